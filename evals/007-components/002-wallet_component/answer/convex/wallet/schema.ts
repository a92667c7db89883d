import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  accounts: defineTable({
    user: v.string(),
    available: v.number(),
    held: v.number(),
    entries: v.number(),
  }).index("by_user", ["user"]),
  entries: defineTable({
    user: v.string(),
    number: v.number(),
    amount: v.number(),
    memo: v.string(),
    owned: v.number(),
  }).index("by_user_and_number", ["user", "number"]),
  deposits: defineTable({ user: v.string(), key: v.string() }).index(
    "by_user_and_key",
    ["user", "key"],
  ),
  holds: defineTable({ user: v.string(), amount: v.number() }),
});
