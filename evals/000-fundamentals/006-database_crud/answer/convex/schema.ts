import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const note = v.object({
  title: v.string(),
  body: v.string(),
  color: v.optional(v.string()),
  isPinned: v.boolean(),
});

export default defineSchema({
  notes: defineTable(note),
});
