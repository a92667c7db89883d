import {
  a as n
} from "./EVCRMLF3.js";

// convex/helpers.ts
function t(e) {
  throw new Error(e);
}
n(t, "fail");
var o = class e {
  constructor(r) {
    this.size = r;
    if (r < 0) throw new RangeError(`bad size ${r}`);
  }
  size;
  static {
    n(this, "Thing");
  }
  grow(r) {
    return new e(this.size + r);
  }
};

export {
  t as a,
  o as b
};
//# sourceMappingURL=O4YAVYCP.js.map
