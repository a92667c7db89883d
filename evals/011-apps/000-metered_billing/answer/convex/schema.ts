import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const statement = v.object({
  month: v.string(),
  units: v.number(),
  creditUnits: v.number(),
  includedUnits: v.number(),
  billedUnits: v.number(),
  amount: v.number(),
  closed: v.boolean(),
});

export const usage = {
  customer: v.string(),
  key: v.string(),
  units: v.number(),
  at: v.number(),
};

export const credit = {
  customer: v.string(),
  key: v.string(),
  units: v.number(),
  from: v.number(),
  until: v.number(),
};

export const plan = v.object({
  type: v.literal("plan.changed"),
  id: v.string(),
  customer: v.string(),
  unitPrice: v.number(),
  includedUnits: v.number(),
  effectiveAt: v.number(),
  version: v.number(),
});

const payment = {
  id: v.string(),
  customer: v.string(),
  payment: v.string(),
  amount: v.number(),
};

export const paid = v.object({
  type: v.literal("payment.succeeded"),
  ...payment,
});

export const refunded = v.object({
  type: v.literal("payment.refunded"),
  ...payment,
});

export const event = v.union(plan, paid, refunded);

export default defineSchema({
  usage: defineTable(usage).index("by_customer_and_key", ["customer", "key"]),
  voids: defineTable({ customer: v.string(), key: v.string() }).index(
    "by_customer_and_key",
    ["customer", "key"],
  ),
  credits: defineTable(credit).index("by_customer_and_key", [
    "customer",
    "key",
  ]),
  events: defineTable(event)
    .index("by_event_id", ["id"])
    .index("by_customer", ["customer"]),
  closings: defineTable({ customer: v.string(), statement }).index(
    "by_customer_and_month",
    ["customer", "statement.month"],
  ),
});
