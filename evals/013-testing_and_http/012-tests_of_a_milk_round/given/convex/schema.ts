import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const invoiceStatus = v.union(v.literal("open"), v.literal("overdue"), v.literal("paid"));

/** Dates are written as `2026-02-28`, months as `2026-02`. */
export default defineSchema({
  products: defineTable({ name: v.string() }).index("by_name", ["name"]),
  prices: defineTable({
    productId: v.id("products"),
    from: v.string(),
    cents: v.number(),
  }).index("by_product", ["productId", "from"]),
  accounts: defineTable({
    customer: v.string(),
    creditCents: v.number(),
    suspended: v.boolean(),
    lastDate: v.union(v.string(), v.null()),
    fixedUntil: v.string(),
  }).index("by_customer", ["customer"]),
  plans: defineTable({
    accountId: v.id("accounts"),
    productId: v.id("products"),
    from: v.string(),
    quantities: v.array(v.number()),
  }).index("by_account_and_product", ["accountId", "productId", "from"]),
  changes: defineTable({
    accountId: v.id("accounts"),
    productId: v.id("products"),
    date: v.string(),
    quantity: v.number(),
  }).index("by_account_and_product", ["accountId", "productId", "date"]),
  pauses: defineTable({
    accountId: v.id("accounts"),
    from: v.string(),
    to: v.string(),
  }).index("by_account", ["accountId"]),
  deliveries: defineTable({
    accountId: v.id("accounts"),
    date: v.string(),
    productId: v.id("products"),
    quantity: v.number(),
    unitCents: v.number(),
    missed: v.number(),
  }).index("by_account_and_date", ["accountId", "date"]),
  reports: defineTable({ report: v.string(), cents: v.number() }).index("by_report", ["report"]),
  invoices: defineTable({
    accountId: v.id("accounts"),
    month: v.string(),
    cents: v.number(),
    creditCents: v.number(),
    dueCents: v.number(),
    status: invoiceStatus,
    attempts: v.number(),
    pending: v.union(v.number(), v.null()),
  }).index("by_account", ["accountId"]),
});
