import { defineComponent } from "convex/server";
import { v } from "convex/values";

export default defineComponent("notifier", {
  env: {
    SENDER: v.string(),
    DELAY_SECONDS: v.string(),
    MODE: v.optional(v.union(v.literal("live"), v.literal("silent"))),
    URL: v.optional(v.string()),
    TOKEN: v.optional(v.string()),
  },
});
