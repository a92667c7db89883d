import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  books: defineTable({
    title: v.string(),
    author: v.string(),
    year: v.number(),
    borrower: v.optional(v.string()),
  })
    .index("by_title", ["title"])
    .index("by_author_and_year", ["author", "year"])
    .searchIndex("search_title", { searchField: "title" }),
  reminders: defineTable({ book: v.id("books"), to: v.string() }),
});
