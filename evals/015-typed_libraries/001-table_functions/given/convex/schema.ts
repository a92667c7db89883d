import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  authors: defineTable({
    name: v.string(),
    born: v.optional(v.number()),
    contact: v.optional(v.object({ email: v.string(), phone: v.optional(v.string()) })),
    links: v.array(v.string()),
  }).index("by_name", ["name"]),

  books: defineTable({
    authorId: v.id("authors"),
    translatorId: v.nullable(v.id("authors")),
    title: v.string(),
    subtitle: v.optional(v.string()),
    copies: v.int64(),
    status: v.union(v.literal("draft"), v.literal("published")),
    ratings: v.record(v.id("members"), v.number()),
  }).searchIndex("search_title", { searchField: "title", filterFields: ["status"] }),

  members: defineTable({
    email: v.string(),
    plan: v.union(v.literal("free"), v.literal("paid")),
    favourite: v.optional(v.id("books")),
    passwordHash: v.string(),
    recoveryCode: v.optional(v.string()),
  }).index("by_email", ["email"]),

  media: defineTable(
    v.union(
      v.object({
        kind: v.literal("image"),
        url: v.string(),
        width: v.number(),
        alt: v.optional(v.string()),
        storageKey: v.string(),
      }),
      v.object({
        kind: v.literal("video"),
        url: v.string(),
        seconds: v.number(),
        captions: v.optional(v.array(v.string())),
        storageKey: v.string(),
        bucket: v.optional(v.string()),
      }),
      v.object({ kind: v.literal("embed"), html: v.string(), url: v.optional(v.string()) }),
    ),
  ).index("by_kind", ["kind"]),

  tags: defineTable({ label: v.string(), weight: v.number() }).index("by_label", ["label"]),

  notices: defineTable(
    v.union(
      v.object({ level: v.literal("info"), text: v.string() }),
      v.object({ level: v.literal("alarm"), text: v.string(), bookId: v.id("books") }),
    ),
  ),
});
