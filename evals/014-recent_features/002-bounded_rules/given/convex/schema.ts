import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  orders: defineTable({
    customer: v.string(),
    items: v.array(v.string()),
  }).index("by_customer", ["customer"]),

  /** One for each rule of an order, in the order of the registry. Null: the rule was stopped. */
  verdicts: defineTable({
    orderId: v.id("orders"),
    rule: v.string(),
    verdict: v.union(v.string(), v.null()),
  }).index("by_order", ["orderId"]),

  // What rules read and write:
  notes: defineTable({
    orderId: v.id("orders"),
    rule: v.string(),
    text: v.string(),
  }),
  signals: defineTable({ customer: v.string(), seen: v.number() }).index(
    "by_customer",
    ["customer"],
  ),
  products: defineTable({ kind: v.string(), name: v.string() }).index(
    "by_kind",
    ["kind"],
  ),
  blocked: defineTable({ customer: v.string() }).index("by_customer", [
    "customer",
  ]),
});
