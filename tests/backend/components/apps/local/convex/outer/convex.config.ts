import { defineComponent } from "convex/server";
import { v } from "convex/values";
import notebook from "../notebook/convex.config";

const outer = defineComponent("outer", {
  env: { PLAN: v.union(v.literal("free"), v.literal("paid")), KEY: v.optional(v.string()) },
});
outer.use(notebook, {
  name: "inner",
  env: { OWNER: "inner", PLAN: outer.env.PLAN, KEY: outer.env.KEY },
  httpPrefix: "/inner/",
});
export default outer;
