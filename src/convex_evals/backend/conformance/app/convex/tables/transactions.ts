import { defineTable } from "convex/server";
import { v } from "convex/values";

export const transactionTables = {
  transactions_counters: defineTable({ name: v.string(), value: v.number() }).index("by_name", ["name"]),
  transactions_items: defineTable({ group: v.string(), n: v.number() }).index("by_group", ["group", "n"]),
};
