import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  entries: defineTable({
    module: v.string(),
    text: v.string(),
    label: v.string(),
  }).index("by_module", ["module"]),
  muted: defineTable({ name: v.string() }).index("by_name", ["name"]),
});
