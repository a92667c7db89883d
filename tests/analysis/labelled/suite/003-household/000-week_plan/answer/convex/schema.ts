import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  events: defineTable({ title: v.string(), day: v.string() }).index("by_day", ["day"]),
});
