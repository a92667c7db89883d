import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  articles: defineTable({ topic: v.string(), title: v.string(), body: v.string() }).index("by_topic", ["topic"]),
  notes: defineTable({ articleId: v.id("articles"), text: v.string() }).index("by_article", ["articleId"]),
});
