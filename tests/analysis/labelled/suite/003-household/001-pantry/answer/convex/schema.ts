import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  supplies: defineTable({ name: v.string(), stock: v.number() }).index("by_name", ["name"]),
});
