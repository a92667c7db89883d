import { defineTable } from "convex/server";
import { v } from "convex/values";

export const pagingTables = {
  paging_items: defineTable({ n: v.number(), group: v.optional(v.string()) }).index("by_n", ["n"]),
};
