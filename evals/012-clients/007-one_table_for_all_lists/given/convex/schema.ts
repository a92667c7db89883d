import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const level = v.union(v.literal(1), v.literal(2), v.literal(3));
export const status = v.union(v.literal("open"), v.literal("paid"), v.literal("shipped"));

export default defineSchema({
  customers: defineTable({ name: v.string(), level, note: v.optional(v.string()) })
    .index("by_name", ["name"])
    .index("by_level", ["level"])
    .index("by_level_and_name", ["level", "name"]),
  orders: defineTable({
    customerId: v.id("customers"),
    number: v.number(),
    status,
    total: v.number(),
    address: v.object({ street: v.string(), city: v.string() }),
    /** Locked orders cannot be changed or removed. */
    locked: v.boolean(),
  })
    .index("by_number", ["customerId", "number"])
    .index("by_total", ["customerId", "total"])
    .index("by_status_and_number", ["customerId", "status", "number"])
    .index("by_status_and_total", ["customerId", "status", "total"]),
  events: defineTable(
    v.union(
      v.object({ kind: v.literal("login"), at: v.number(), pinned: v.boolean(), customerId: v.id("customers") }),
      v.object({
        kind: v.literal("payment"),
        at: v.number(),
        pinned: v.boolean(),
        orderId: v.id("orders"),
        amount: v.number(),
      }),
      v.object({ kind: v.literal("note"), at: v.number(), pinned: v.boolean(), text: v.string() }),
    ),
  )
    .index("by_at", ["at"])
    .index("by_pinned_and_at", ["pinned", "at"]),
});
