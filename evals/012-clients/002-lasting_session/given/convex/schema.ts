import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({ owner: v.string(), text: v.string() }).index("by_owner", ["owner"]),
});
