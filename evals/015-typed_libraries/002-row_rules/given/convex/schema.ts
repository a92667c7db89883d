import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  users: defineTable({ subject: v.string(), name: v.string(), admin: v.boolean() }).index("by_subject", ["subject"]),

  teams: defineTable({ name: v.string(), memberIds: v.array(v.id("users")) }),

  notes: defineTable({
    ownerId: v.id("users"),
    teamId: v.optional(v.id("teams")),
    title: v.string(),
    text: v.string(),
    rank: v.number(),
    place: v.optional(v.object({ city: v.string(), street: v.optional(v.string()) })),
  })
    .index("by_owner", ["ownerId", "rank"])
    .index("by_rank", ["rank"])
    .searchIndex("search_text", { searchField: "text", filterFields: ["ownerId"] }),

  activity: defineTable(
    v.union(
      v.object({ kind: v.literal("comment"), noteId: v.id("notes"), authorId: v.id("users"), text: v.string() }),
      v.object({ kind: v.literal("vote"), noteId: v.id("notes"), authorId: v.id("users"), value: v.number() }),
    ),
  ).index("by_note", ["noteId"]),

  announcements: defineTable({ text: v.string() }),

  audit: defineTable({ action: v.string(), subject: v.string() }).index("by_subject", ["subject"]),
});
