import {
  a as e,
  b as a
} from "./_deps/O4YAVYCP.js";
import {
  e as n
} from "./_deps/CWOSZJTS.js";
import {
  a as r
} from "./_deps/EVCRMLF3.js";

// convex/errors.ts
var i = n({
  args: {},
  handler: /* @__PURE__ */ r(async () => {
    throw new Error("boom");
  }, "handler")
}), l = n({
  args: {},
  handler: /* @__PURE__ */ r(async () => {
    e("in a helper");
  }, "handler")
}), w = n({
  args: {},
  handler: /* @__PURE__ */ r(async () => new a(1).grow(-5), "handler")
}), h = n({
  args: {},
  handler: /* @__PURE__ */ r(async (o) => {
    await o.db.get("nonsense");
  }, "handler")
});
async function t() {
  throw await Promise.resolve(), new TypeError("later");
}
r(t, "slowly");
var p = n({
  args: {},
  handler: /* @__PURE__ */ r(async () => {
    await t();
  }, "handler")
}), y = n({
  args: {},
  handler: /* @__PURE__ */ r(async () => new Error("not thrown").stack, "handler")
});
export {
  p as afterAwait,
  i as direct,
  w as inConstructor,
  h as inDatabase,
  l as inHelper,
  y as stack
};
//# sourceMappingURL=errors.js.map
