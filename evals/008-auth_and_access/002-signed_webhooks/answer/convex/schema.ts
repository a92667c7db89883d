import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  secrets: defineTable({ bank: v.string(), secret: v.string() }).index(
    "by_bank_and_secret",
    ["bank", "secret"],
  ),
  accounts: defineTable({
    bank: v.string(),
    account: v.string(),
    balance: v.number(),
    sequence: v.number(),
    events: v.number(),
  }).index("by_bank_and_account", ["bank", "account"]),
  accepted: defineTable({ bank: v.string(), eventId: v.string() }).index(
    "by_bank_and_event",
    ["bank", "eventId"],
  ),
});
