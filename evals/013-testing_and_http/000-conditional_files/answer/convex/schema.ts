import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  files: defineTable({
    name: v.string(),
    type: v.string(),
    tag: v.string(),
    storageId: v.id("_storage"),
  }).index("by_name", ["name"]),
});
