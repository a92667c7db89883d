import {
  e as a,
  f as b,
  g as c,
  h as d,
  i as e,
  j as f
} from "./_deps/CWOSZJTS.js";
import "./_deps/EVCRMLF3.js";
export {
  d as action,
  f as env,
  e as httpAction,
  c as internalMutation,
  b as mutation,
  a as query
};
//# sourceMappingURL=server.js.map
