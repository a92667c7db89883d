import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const scope = v.union(v.literal("read"), v.literal("write"));

export default defineSchema({
  keys: defineTable({
    owner: v.string(),
    label: v.string(),
    scopes: v.array(scope),
    expires: v.nullable(v.number()),
    hint: v.string(),
    lastUsed: v.nullable(v.number()),
  }).index("by_owner", ["owner"]),
  // Random secrets of this length need neither salt nor a slow hash.
  secrets: defineTable({
    keyId: v.id("keys"),
    hash: v.string(),
    until: v.nullable(v.number()),
  })
    .index("by_hash", ["hash"])
    .index("by_key", ["keyId"]),
  suspensions: defineTable({ user: v.string() }).index("by_user", ["user"]),
  notes: defineTable({ owner: v.string(), text: v.string() }).index(
    "by_owner",
    ["owner"],
  ),
});
