import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  people: defineTable({
    email: v.string(),
    name: v.string(),
    nickname: v.optional(v.string()),
    role: v.union(v.literal("agent"), v.literal("customer")),
    address: v.optional(v.object({ country: v.string(), city: v.string() })),
  })
    .index("by_email", ["email"])
    .index("by_nickname", ["nickname"])
    .index("by_role_and_place", ["role", "address.country", "address.city"])
    .searchIndex("search_name", { searchField: "name" }),

  teams: defineTable({ name: v.string(), size: v.int64(), leadId: v.nullable(v.id("people")) })
    .index("by_lead", ["leadId", "name"])
    .index("by_size", ["size"]),

  tickets: defineTable({
    teamId: v.id("teams"),
    personId: v.id("people"),
    priority: v.number(),
    subject: v.string(),
    closed: v.boolean(),
    labels: v.record(v.string(), v.string()),
  })
    .index("by_team", ["teamId", "closed", "priority"])
    .index("by_person", ["personId"]),

  events: defineTable(
    v.union(
      v.object({ kind: v.literal("opened"), ticketId: v.id("tickets"), source: v.string() }),
      v.object({ kind: v.literal("assigned"), ticketId: v.id("tickets"), to: v.id("people"), note: v.optional(v.string()) }),
      v.object({ kind: v.literal("login"), personId: v.id("people"), source: v.literal("web") }),
      v.object({ kind: v.literal("imported"), source: v.literal("file"), note: v.string(), rows: v.number() }),
    ),
  )
    .index("by_kind", ["kind"])
    .index("by_ticket", ["ticketId", "kind"])
    .index("by_source", ["source"])
    .index("by_note", ["note"]),

  payments: defineTable(
    v.union(
      v.object({ amount: v.number(), method: v.object({ type: v.literal("card"), last4: v.string() }), settled: v.boolean() }),
      v.object({ amount: v.number(), method: v.object({ type: v.literal("cash") }), drawer: v.number() }),
      v.object({ amount: v.number(), method: v.object({ type: v.literal("voucher"), code: v.string() }) }),
    ),
  )
    .index("by_method", ["method.type", "amount"])
    .index("by_code", ["method.code"]),
});
