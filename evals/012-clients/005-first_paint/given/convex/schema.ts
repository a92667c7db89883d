import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notices: defineTable({ author: v.string(), title: v.string(), likes: v.int64() }).index("by_author", ["author"]),
});
