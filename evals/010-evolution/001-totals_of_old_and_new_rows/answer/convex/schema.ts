import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  accounts: defineTable({
    name: v.string(),
    // Minus the sum of the counted entries, so that the richest come first.
    // Accounts from before have none until an entry is counted.
    negativeTotal: v.optional(v.number()),
  }).index("by_negative_total_and_name", ["negativeTotal", "name"]),
  entries: defineTable({
    accountId: v.id("accounts"),
    cents: v.number(),
    note: v.string(),
    transferId: v.optional(v.id("transfers")),
    // Entries from before are not part of their account's total until the
    // migration has counted them.
    isCounted: v.optional(v.literal(true)),
  })
    .index("by_counted", ["isCounted"])
    .index("by_account_and_counted", ["accountId", "isCounted"])
    .index("by_account", ["accountId"])
    .index("by_transfer", ["transferId"]),
  transfers: defineTable({
    from: v.id("accounts"),
    to: v.id("accounts"),
    cents: v.number(),
  }),
});
