import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  archives: defineTable({
    name: v.string(),
    data: v.bytes(),
    size: v.number(),
    sha256: v.string(),
  }).index("by_name", ["name"]),
});
