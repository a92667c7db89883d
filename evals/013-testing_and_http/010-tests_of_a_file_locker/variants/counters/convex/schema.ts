import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  /** `key` stays the same in the bin and out of it. */
  shelf: defineTable({ owner: v.string(), key: v.string(), name: v.string() }).index("by_name", ["owner", "name"]),
  trash: defineTable({ owner: v.string(), key: v.string(), name: v.string(), since: v.number() }).index("by_owner", [
    "owner",
    "since",
  ]),
  revisions: defineTable({ key: v.string(), number: v.number(), made: v.number(), content: v.id("contents") }).index(
    "by_key",
    ["key"],
  ),
  contents: defineTable({
    owner: v.string(),
    hash: v.string(),
    bytes: v.number(),
    references: v.number(),
    stored: v.id("_storage"),
  }).index("by_owner", ["owner", "hash"]),
  accounts: defineTable({ owner: v.string(), used: v.number(), reserved: v.number(), uploads: v.number() }).index(
    "by_owner",
    ["owner"],
  ),
  uploads: defineTable({ owner: v.string(), name: v.string(), bytes: v.number(), token: v.string(), end: v.number() }),
  links: defineTable({
    owner: v.string(),
    key: v.string(),
    token: v.string(),
    downloads: v.number(),
    most: v.number(),
    end: v.number(),
  }),
  rounds: defineTable({ at: v.number() }),
});
