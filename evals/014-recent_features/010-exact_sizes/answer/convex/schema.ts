import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const entryFields = {
  owner: v.string(),
  key: v.string(),
  value: v.any(),
  note: v.optional(v.string()),
};

export default defineSchema({
  entries: defineTable(entryFields).index("by_owner_and_key", ["owner", "key"]),
  // How many bytes the entries of an owner take up.
  accounts: defineTable({ owner: v.string(), used: v.number() }).index(
    "by_owner",
    ["owner"],
  ),
});
