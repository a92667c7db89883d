import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  bank: defineTable({ url: v.string() }),
  // A key in use. Its ID is the reference for the bank.
  requests: defineTable({
    key: v.string(),
    amount: v.number(),
    card: v.string(),
    firstUsed: v.number(),
    attempt: v.number(),
    // When the attempt began that is being worked on.
    begun: v.nullable(v.number()),
    chargeId: v.nullable(v.id("charges")),
  }).index("by_key", ["key"]),
  charges: defineTable({
    amount: v.number(),
    card: v.string(),
    approved: v.boolean(),
  }),
});
