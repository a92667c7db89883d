import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  books: defineTable({
    title: v.string(),
    pages: v.number(),
    isbn: v.optional(v.string()),
    tags: v.array(v.string()),
    isLent: v.boolean(),
  }),
});
