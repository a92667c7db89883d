import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  countries: defineTable({ name: v.string() }),
  cities: defineTable({ name: v.string(), country: v.id("countries") }),
  users: defineTable({
    name: v.string(),
    manager: v.optional(v.id("users")),
    home: v.union(v.null(), v.id("cities")),
    avatar: v.optional(v.id("_storage")),
  }).index("by_name", ["name"]),
  tags: defineTable({ label: v.string(), parent: v.nullable(v.id("tags")) }),
  posts: defineTable({
    title: v.string(),
    author: v.id("users"),
    reviewer: v.optional(v.id("users")),
    tags: v.array(v.id("tags")),
    address: v.object({ street: v.string(), city: v.id("cities") }),
    venue: v.optional(
      v.object({
        name: v.string(),
        city: v.id("cities"),
        host: v.optional(v.id("users")),
      }),
    ),
    related: v.array(v.object({ post: v.id("posts"), note: v.string() })),
    roles: v.record(v.string(), v.id("users")),
    subject: v.union(v.id("users"), v.id("cities")),
    meta: v.any(),
  }).index("by_author", ["author"]),
  events: defineTable(
    v.union(
      v.object({
        kind: v.literal("visit"),
        who: v.id("users"),
        where: v.id("cities"),
      }),
      v.object({
        kind: v.literal("retag"),
        who: v.id("tags"),
        by: v.optional(v.id("users")),
      }),
      v.object({ kind: v.literal("guest"), who: v.string() }),
      v.object({
        kind: v.literal("show"),
        place: v.union(
          v.object({ type: v.literal("city"), city: v.id("cities") }),
          v.object({ type: v.literal("online"), url: v.string() }),
        ),
        cast: v.array(v.id("users")),
      }),
    ),
  ),
});
