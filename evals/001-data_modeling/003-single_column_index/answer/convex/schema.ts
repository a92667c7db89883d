import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  products: defineTable({
    sku: v.string(),
    name: v.string(),
    category: v.string(),
    shipping: v.object({ weightGrams: v.number(), isFragile: v.boolean() }),
  })
    .index("by_sku", ["sku"])
    .index("by_category", ["category"])
    .index("by_weight", ["shipping.weightGrams"]),
});
