import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  authors: defineTable({
    name: v.string(),
    born: v.optional(v.number()),
  }),

  books: defineTable({
    title: v.string(),
    authorId: v.id("authors"),
    pages: v.number(),
    tags: v.array(v.string()),
    isAvailable: v.boolean(),
  }),

  loans: defineTable({
    bookId: v.id("books"),
    borrower: v.string(),
    dueAt: v.number(),
    returnedAt: v.optional(v.number()),
  }),
});
