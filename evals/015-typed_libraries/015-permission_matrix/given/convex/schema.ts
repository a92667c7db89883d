import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  users: defineTable({
    subject: v.string(),
    name: v.string(),
    email: v.optional(v.string()),
    role: v.union(
      v.literal("guest"),
      v.literal("member"),
      v.literal("editor"),
      v.literal("auditor"),
      v.literal("admin"),
    ),
  }).index("by_subject", ["subject"]),

  posts: defineTable({
    authorId: v.id("users"),
    title: v.string(),
    body: v.string(),
    status: v.union(v.literal("draft"), v.literal("published")),
    reviewNote: v.optional(v.string()),
    score: v.number(),
  }).index("by_status", ["status"]),

  comments: defineTable({
    postId: v.id("posts"),
    authorId: v.id("users"),
    text: v.string(),
    hidden: v.boolean(),
    address: v.optional(v.string()),
  }).index("by_post", ["postId"]),

  files: defineTable(
    v.union(
      v.object({
        kind: v.literal("image"),
        ownerId: v.id("users"),
        url: v.string(),
        width: v.number(),
        camera: v.optional(v.string()),
      }),
      v.object({
        kind: v.literal("report"),
        ownerId: v.id("users"),
        url: v.string(),
        pages: v.array(v.object({ title: v.string(), words: v.int64() })),
        secret: v.optional(v.boolean()),
      }),
    ),
  ).index("by_owner", ["ownerId"]),
});
