import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  handles: defineTable({
    user: v.string(),
    handle: v.string(),
    normalized: v.string(),
  })
    .index("by_user", ["user"])
    .index("by_normalized", ["normalized"]),
  reservations: defineTable({
    user: v.string(),
    handle: v.string(),
    normalized: v.string(),
    until: v.number(),
  })
    .index("by_user", ["user"])
    .index("by_normalized", ["normalized"]),
});
