import { defineTable } from "convex/server";
import { v } from "convex/values";

export const searchTables = {
  searching_notes: defineTable({
    body: v.any(),
    tag: v.string(),
    channel: v.optional(v.string()),
    author: v.optional(v.string()),
  }).searchIndex("search_body", { searchField: "body", filterFields: ["channel", "author"] }),
  searching_vectors: defineTable({
    tag: v.string(),
    embedding: v.optional(v.any()),
    genre: v.optional(v.string()),
    lang: v.optional(v.string()),
  }).vectorIndex("by_embedding", { vectorField: "embedding", dimensions: 3, filterFields: ["genre", "lang"] }),
};
