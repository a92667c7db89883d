import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const currency = v.union(v.literal("coins"), v.literal("gems"));

export default defineSchema({
  items: defineTable({
    item: v.string(),
    inStock: v.number(),
    sold: v.number(),
  }).index("by_item", ["item"]),
  // Those that are neither settled nor over.
  reservations: defineTable({
    item: v.string(),
    currency,
    hold: v.string(),
  }),
});
