import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** Amounts are whole numbers of cents. */
  sales: defineTable({
    shop: v.string(),
    cashier: v.string(),
    amount: v.number(),
    /** Whether it is in the figures. Sales of former times are not, until they are caught up with. */
    counted: v.optional(v.boolean()),
  })
    .index("by_cashier", ["cashier"])
    .index("by_counted", ["counted"]),
});
