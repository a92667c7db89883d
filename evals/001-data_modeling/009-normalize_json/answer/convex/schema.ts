import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  customers: defineTable({
    email: v.string(),
    name: v.string(),
  }).index("by_email", ["email"]),

  products: defineTable({
    sku: v.string(),
    name: v.string(),
    price: v.number(),
  }).index("by_sku", ["sku"]),

  orders: defineTable({
    number: v.string(),
    customerId: v.id("customers"),
  }).index("by_number", ["number"]),

  orderLines: defineTable({
    orderId: v.id("orders"),
    productId: v.id("products"),
    quantity: v.number(),
  }).index("by_orderId", ["orderId"]),
});
