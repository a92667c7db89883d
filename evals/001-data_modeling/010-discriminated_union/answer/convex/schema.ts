import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const payment = v.union(
  v.object({
    kind: v.literal("card"),
    amount: v.number(),
    brand: v.string(),
    lastDigits: v.string(),
  }),
  v.object({
    kind: v.literal("transfer"),
    amount: v.number(),
    iban: v.string(),
  }),
  v.object({
    kind: v.literal("cash"),
    amount: v.number(),
    receivedBy: v.string(),
  }),
);

export default defineSchema({
  payments: defineTable(payment).index("by_kind", ["kind"]),
});
