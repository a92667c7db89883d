import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  accounts: defineTable({
    name: v.string(),
  }),
  entries: defineTable({
    accountId: v.id("accounts"),
    cents: v.number(),
    note: v.string(),
    transferId: v.optional(v.id("transfers")),
  })
    .index("by_account", ["accountId"])
    .index("by_transfer", ["transferId"]),
  transfers: defineTable({
    from: v.id("accounts"),
    to: v.id("accounts"),
    cents: v.number(),
  }),
});
