import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const size = v.union(v.literal("small"), v.literal("large"));

export default defineSchema({
  items: defineTable({
    title: v.string(),
    tags: v.array(v.string()),
    size,
    note: v.optional(v.string()),
  }),
  log: defineTable({ text: v.string() }),
});
