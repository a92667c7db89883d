import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({ text: v.string() }).index("by_text", ["text"]),
  counters: defineTable({ n: v.number() }),
  anything: defineTable(v.any()),
});
