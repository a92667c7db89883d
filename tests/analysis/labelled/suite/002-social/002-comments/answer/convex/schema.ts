import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  comments: defineTable({ post: v.string(), body: v.string(), hidden: v.boolean() }).index("by_post", ["post"]),
});
