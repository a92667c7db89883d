import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  pages: defineTable({
    page: v.string(),
    text: v.string(),
    indexUrl: v.string(),
    indexedText: v.union(v.string(), v.null()),
    firstOpenEdit: v.union(v.number(), v.null()),
    lastEdit: v.number(),
    // idle: no open edits; waiting: until a request is due; failed: until it is repeated.
    state: v.union(
      v.literal("idle"),
      v.literal("waiting"),
      v.literal("sending"),
      v.literal("failed"),
    ),
  }).index("by_page", ["page"]),
});
