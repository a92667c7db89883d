import { defineComponent } from "convex/server";
import { v } from "convex/values";

export default defineComponent("notebook", {
  env: {
    OWNER: v.string(),
    PLAN: v.union(v.literal("free"), v.literal("paid")),
    KEY: v.optional(v.string()),
  },
});
