import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  links: defineTable({
    name: v.string(),
    target: v.string(),
    visits: v.number(),
  }).index("by_name", ["name"]),
});
