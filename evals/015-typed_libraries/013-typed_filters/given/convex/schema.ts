import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  people: defineTable({
    name: v.string(),
    role: v.union(v.literal("admin"), v.literal("member"), v.literal("guest")),
    isActive: v.boolean(),
    age: v.optional(v.number()),
    visits: v.int64(),
    tags: v.array(v.string()),
    boss: v.optional(v.id("people")),
    address: v.optional(
      v.object({
        city: v.string(),
        zip: v.optional(v.string()),
        geo: v.object({ lat: v.number(), lng: v.number() }),
      }),
    ),
  })
    .index("by_role_and_name", ["role", "name"])
    .index("by_city", ["address.city"]),
  events: defineTable(
    v.union(
      v.object({
        kind: v.literal("joined"),
        at: v.number(),
        person: v.id("people"),
      }),
      v.object({
        kind: v.literal("renamed"),
        at: v.number(),
        person: v.id("people"),
        from: v.string(),
        to: v.string(),
      }),
      v.object({
        kind: v.literal("paid"),
        at: v.number(),
        code: v.union(v.string(), v.number()),
        amount: v.object({
          value: v.number(),
          currency: v.union(v.literal("EUR"), v.literal("USD")),
        }),
      }),
    ),
  )
    .index("by_kind_and_at", ["kind", "at"])
    .index("by_person", ["person"])
    .index("by_currency", ["amount.currency", "at"]),
  drafts: defineTable(
    v.union(
      v.object({ version: v.literal(1), text: v.string() }),
      v.object({
        version: v.literal(2),
        body: v.array(v.string()),
        score: v.nullable(v.number()),
      }),
    ),
  ),
});
