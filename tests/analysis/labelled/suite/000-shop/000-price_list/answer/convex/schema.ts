import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  products: defineTable({ name: v.string(), cents: v.number(), shelf: v.string() }).index("by_name", ["name"]),
});
