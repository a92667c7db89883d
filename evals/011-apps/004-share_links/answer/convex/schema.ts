import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  files: defineTable({
    user: v.string(),
    name: v.string(),
    size: v.number(),
    storageId: v.id("_storage"),
    finishedAt: v.number(),
  })
    .index("by_user", ["user"])
    .index("by_storage", ["storageId"]),
  links: defineTable({
    file: v.id("files"),
    token: v.string(),
    downloadsLeft: v.union(v.number(), v.null()),
    expiresAt: v.union(v.number(), v.null()),
    // When it was used up or revoked.
    endedAt: v.union(v.number(), v.null()),
  })
    .index("by_token", ["token"])
    .index("by_file", ["file"]),
});
