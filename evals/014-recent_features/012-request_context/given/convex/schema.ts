import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  dishes: defineTable({
    name: v.string(),
    minutes: v.number(),
    parts: v.array(v.string()),
  }).index("by_name", ["name"]),
  tickets: defineTable({ table: v.string(), dish: v.string() }),
});
