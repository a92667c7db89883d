import { defineTable } from "convex/server";
import { v } from "convex/values";

export const limitTables = {
  limits_small: defineTable({ n: v.number() }).index("by_n", ["n"]),
  limits_big: defineTable({ text: v.string() }),
};
