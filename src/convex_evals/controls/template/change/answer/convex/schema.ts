import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({
    author: v.string(),
    text: v.string(),
    isPinned: v.optional(v.boolean()),
  })
    .index("by_author", ["author"])
    .index("by_author_and_pinned", ["author", "isPinned"]),
});
