import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  sites: defineTable({ pattern: v.string(), credentials: v.boolean() }).index(
    "by_pattern",
    ["pattern"],
  ),
  notes: defineTable({ number: v.number(), text: v.string() }).index(
    "by_number",
    ["number"],
  ),
  counters: defineTable({ last: v.number() }),
});
