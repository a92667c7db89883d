import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const job = v.union(
  v.object({ what: v.literal("load"), member: v.string(), date: v.string() }),
  v.object({ what: v.literal("bill"), member: v.string(), month: v.string(), isLast: v.boolean() }),
  v.object({ what: v.literal("try"), invoiceId: v.id("invoices") }),
  v.object({ what: v.literal("stop"), attemptId: v.id("attempts") }),
  v.object({ what: v.literal("remind"), invoiceId: v.id("invoices") }),
  v.object({ what: v.literal("suspend"), invoiceId: v.id("invoices") }),
);

const item = v.object({ productId: v.id("products"), name: v.string(), pieces: v.number(), cents: v.number() });

export default defineSchema({
  products: defineTable({ name: v.string() }),
  costs: defineTable({ productId: v.id("products"), cents: v.number(), day: v.string() }),
  members: defineTable({
    name: v.string(),
    weekly: v.array(v.object({ productId: v.id("products"), pieces: v.array(v.number()) })),
    onDays: v.array(v.object({ productId: v.id("products"), day: v.string(), pieces: v.number() })),
    away: v.array(v.object({ first: v.string(), last: v.string() })),
    end: v.optional(v.string()),
    loaded: v.string(),
    isSuspended: v.boolean(),
  }),
  money: defineTable({ member: v.string(), cents: v.number(), why: v.string() }),
  loads: defineTable({ member: v.string(), day: v.string(), items: v.array(item) }),
  misses: defineTable({
    key: v.string(),
    load: v.id("loads"),
    product: v.string(),
    pieces: v.number(),
    cents: v.number(),
  }),
  invoices: defineTable({
    member: v.string(),
    month: v.string(),
    total: v.number(),
    used: v.number(),
    isPaid: v.boolean(),
    isLate: v.boolean(),
  }),
  attempts: defineTable({
    invoiceId: v.id("invoices"),
    number: v.number(),
    state: v.union(v.literal("waiting"), v.literal("answered"), v.literal("given up")),
  }),
  jobs: defineTable({ due: v.number(), job }).index("by_due", ["due"]),
});
