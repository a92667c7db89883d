import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const line = v.object({
  productId: v.id("products"),
  quantity: v.number(),
});

export default defineSchema({
  customers: defineTable({
    name: v.string(),
    points: v.number(),
  }),
  products: defineTable({
    name: v.string(),
    cents: v.number(),
    stock: v.number(),
  }),
  orders: defineTable({
    customerId: v.id("customers"),
    number: v.number(),
    lines: v.array(line),
    cents: v.number(),
    status: v.union(v.literal("placed"), v.literal("cancelled")),
    clientRef: v.optional(v.string()),
    copyOf: v.optional(v.id("orders")),
  })
    .index("by_number", ["number"])
    .index("by_customer_and_ref", ["customerId", "clientRef"]),
  // What orders:place has returned, for calls that are repeated.
  placements: defineTable({
    customerId: v.id("customers"),
    clientRef: v.string(),
    lines: v.array(line),
    result: v.object({
      orderId: v.id("orders"),
      number: v.number(),
      cents: v.number(),
    }),
  }).index("by_customer_and_ref", ["customerId", "clientRef"]),
  outbox: defineTable({
    customerId: v.id("customers"),
    text: v.string(),
  }),
});
