import {
  a,
  b
} from "./_deps/O4YAVYCP.js";
import "./_deps/EVCRMLF3.js";
export {
  b as Thing,
  a as fail
};
//# sourceMappingURL=helpers.js.map
