import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  entries: defineTable({ person: v.string(), startedAt: v.number(), endedAt: v.number() }).index("by_person", ["person"]),
});
