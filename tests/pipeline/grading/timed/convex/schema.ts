import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  runs: defineTable({ name: v.string(), at: v.number() }).index("by_name", ["name"]),
  seats: defineTable({ name: v.string(), holder: v.string() }).index("by_name", ["name"]),
});
