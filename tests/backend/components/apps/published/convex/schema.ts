import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  scores: defineTable({ player: v.string(), points: v.number() }),
  events: defineTable({ topic: v.string(), text: v.string() }).index("by_topic", ["topic"]),
  people: defineTable({ name: v.string(), initial: v.optional(v.string()) }),
});
