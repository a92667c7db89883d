import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const status = v.union(
  v.literal("open"),
  v.literal("waiting"),
  v.literal("closed"),
);

export const priority = v.union(v.literal(1), v.literal(2), v.literal(3));

export default defineSchema({
  tickets: defineTable({
    subject: v.string(),
    status,
    priority,
    hasConsented: v.literal(true),
  }).index("by_status", ["status"]),
});
