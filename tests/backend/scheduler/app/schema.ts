import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  runs: defineTable({ name: v.string(), seen: v.any() }).index("by_name", ["name"]),
  counters: defineTable({ n: v.number() }),
});
