import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  lines: defineTable({ cart: v.string(), item: v.string(), quantity: v.number() }).index("by_cart", ["cart"]),
});
