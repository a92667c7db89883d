import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** Amounts are whole numbers of cents. */
  sales: defineTable({
    shop: v.string(),
    cashier: v.string(),
    amount: v.number(),
  }).index("by_cashier", ["cashier"]),
});
