import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const kind = v.union(v.literal("folder"), v.literal("document"));
export const sharedRole = v.union(v.literal("viewer"), v.literal("editor"));

export default defineSchema({
  items: defineTable({
    parentId: v.nullable(v.id("items")),
    owner: v.string(),
    name: v.string(),
    kind,
    restricted: v.boolean(),
  }).index("by_parent_and_name", ["parentId", "name"]),
  shares: defineTable({
    itemId: v.id("items"),
    user: v.string(),
    role: sharedRole,
  })
    .index("by_item_and_user", ["itemId", "user"])
    .index("by_user", ["user"]),
});
