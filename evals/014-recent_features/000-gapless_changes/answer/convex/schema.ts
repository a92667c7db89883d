import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  changes: defineTable({
    topic: v.string(),
    // The order in which mutations commit, whenever they began.
    committed: v.commitTs(),
    // Among the changes of the same mutation.
    position: v.number(),
    key: v.string(),
    value: v.string(),
  }).index("by_topic", ["topic", "committed", "position"]),
});
