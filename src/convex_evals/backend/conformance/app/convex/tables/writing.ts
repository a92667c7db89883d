import { defineTable } from "convex/server";
import { v } from "convex/values";

export const writingTables = {
  writing_any: defineTable(v.any()),
  writing_users: defineTable({ name: v.string() }),
  writing_strict: defineTable({
    title: v.string(),
    count: v.optional(v.number()),
    big: v.optional(v.int64()),
    author: v.optional(v.id("writing_users")),
    kind: v.optional(v.union(v.literal("a"), v.literal("b"))),
    scores: v.optional(v.record(v.string(), v.number())),
  }),
};
