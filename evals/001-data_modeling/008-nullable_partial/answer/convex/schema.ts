import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  profiles: defineTable({
    handle: v.string(),
    bio: v.nullable(v.string()),
    nickname: v.optional(v.string()),
    website: v.optional(v.nullable(v.string())),
  }).index("by_website", ["website"]),
});
