import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  offers: defineTable({
    shop: v.string(),
    title: v.string(),
    description: v.string(),
    price: v.number(),
    weight: v.number(),
    rating: v.number(),
  }).index("by_shop", ["shop"]),
});
