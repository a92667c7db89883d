import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** What an owner keeps: each different content once, as long as there is a version with it. */
  contents: defineTable({
    owner: v.string(),
    hash: v.string(),
    size: v.number(),
    storageId: v.id("_storage"),
  }).index("by_owner_and_hash", ["owner", "hash"]),
  /** Files in the bin have the time of their deletion. */
  files: defineTable({
    owner: v.string(),
    name: v.string(),
    deletedAt: v.union(v.number(), v.null()),
  })
    .index("by_owner", ["owner", "deletedAt", "name"])
    .index("by_deletion", ["deletedAt"]),
  versions: defineTable({
    fileId: v.id("files"),
    contentId: v.id("contents"),
    number: v.number(),
    at: v.number(),
  })
    .index("by_file", ["fileId", "number"])
    .index("by_content", ["contentId"]),
  uploads: defineTable({
    owner: v.string(),
    name: v.string(),
    size: v.number(),
    token: v.string(),
    expiresAt: v.number(),
  })
    .index("by_owner", ["owner"])
    .index("by_token", ["token"])
    .index("by_expiry", ["expiresAt"]),
  shares: defineTable({
    fileId: v.id("files"),
    token: v.string(),
    remaining: v.number(),
    expiresAt: v.number(),
  })
    .index("by_file", ["fileId"])
    .index("by_token", ["token"]),
});
