import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const wish = v.union(
  v.object({ kind: v.literal("weekly"), productId: v.id("products"), quantities: v.array(v.number()) }),
  v.object({
    kind: v.literal("once"),
    productId: v.id("products"),
    date: v.string(),
    quantity: v.union(v.number(), v.null()),
  }),
  v.object({ kind: v.literal("pause"), from: v.string(), to: v.string() }),
  v.object({ kind: v.literal("end"), date: v.string() }),
);

export default defineSchema({
  products: defineTable({ name: v.string(), prices: v.array(v.object({ from: v.string(), cents: v.number() })) }),
  households: defineTable({
    subject: v.string(),
    credit: v.number(),
    lastDate: v.union(v.string(), v.null()),
    blocked: v.array(v.object({ since: v.number(), until: v.union(v.number(), v.null()) })),
  }),
  wishes: defineTable({ subject: v.string(), at: v.number(), wish }),
  missed: defineTable({
    report: v.string(),
    subject: v.string(),
    productId: v.id("products"),
    date: v.string(),
    quantity: v.number(),
    cents: v.number(),
  }),
  invoices: defineTable({
    subject: v.string(),
    month: v.string(),
    made: v.string(),
    full: v.number(),
    credited: v.number(),
    state: v.union(v.literal("open"), v.literal("overdue"), v.literal("paid")),
    tries: v.array(v.object({ until: v.number(), answered: v.boolean() })),
  }),
  clock: defineTable({ next: v.number() }),
});
