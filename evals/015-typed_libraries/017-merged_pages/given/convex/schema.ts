import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  users: defineTable({
    name: v.string(),
    joined: v.optional(v.number()),
  })
    .index("by_name", ["name"])
    .index("by_joined", ["joined"]),

  articles: defineTable({
    authorId: v.id("users"),
    section: v.string(),
    title: v.string(),
    publishedAt: v.number(),
    draft: v.boolean(),
  })
    .index("by_author_and_published", ["authorId", "publishedAt"])
    .index("by_section_and_title", ["section", "title"])
    .searchIndex("search_title", { searchField: "title" }),

  notes: defineTable({
    ownerId: v.id("users"),
    text: v.string(),
    time: v.number(),
    pinned: v.optional(v.boolean()),
    meta: v.object({ language: v.string(), rank: v.number() }),
  })
    .index("by_owner", ["ownerId"])
    .index("by_owner_and_time", ["ownerId", "time"])
    .index("by_owner_pinned_time", ["ownerId", "pinned", "time"])
    .index("by_language_rank_text", ["meta.language", "meta.rank", "text"]),

  media: defineTable(
    v.union(
      v.object({
        kind: v.literal("photo"),
        ownerId: v.id("users"),
        takenAt: v.number(),
        width: v.number(),
      }),
      v.object({
        kind: v.literal("clip"),
        ownerId: v.id("users"),
        takenAt: v.number(),
        seconds: v.number(),
      }),
    ),
  )
    .index("by_owner_and_taken", ["ownerId", "takenAt"])
    .index("by_width", ["width"]),
});
