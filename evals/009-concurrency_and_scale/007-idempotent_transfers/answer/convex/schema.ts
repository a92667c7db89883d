import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const result = v.union(
  v.object({ ok: v.literal(true), balance: v.number() }),
  v.object({ ok: v.literal(true), balances: v.array(v.number()) }),
  v.object({
    ok: v.literal(false),
    reason: v.union(v.literal("NO_ACCOUNT"), v.literal("FUNDS")),
    position: v.optional(v.number()),
  }),
);

export default defineSchema({
  accounts: defineTable({
    account: v.string(),
    balance: v.number(),
  }).index("by_account", ["account"]),
  // A row for each account that takes part in a transfer.
  entries: defineTable({
    account: v.string(),
    from: v.string(),
    to: v.string(),
    amount: v.number(),
  }).index("by_account", ["account"]),
  requests: defineTable({
    client: v.string(),
    key: v.string(),
    // What was asked for, as text that is the same for equal requests.
    request: v.string(),
    result,
    expires: v.number(),
  }).index("by_key", ["client", "key"]),
});
