import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  ticks: defineTable({ source: v.string() }),
});
