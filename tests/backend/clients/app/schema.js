import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({ topic: v.string(), text: v.string() }).index("by_topic", ["topic"]),
  counters: defineTable({ value: v.number() }),
});
