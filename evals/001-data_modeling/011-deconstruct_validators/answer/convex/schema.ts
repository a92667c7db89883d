import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const article = v.object({
  title: v.string(),
  summary: v.optional(v.string()),
  language: v.union(v.literal("en"), v.literal("de"), v.literal("fr")),
  tags: v.array(v.string()),
  status: v.union(
    v.literal("draft"),
    v.literal("published"),
    v.literal("archived"),
  ),
  metrics: v.object({ views: v.number(), likes: v.number() }),
});

export default defineSchema({
  articles: defineTable(article),
});
