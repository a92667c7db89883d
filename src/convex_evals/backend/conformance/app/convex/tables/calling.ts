import { defineTable } from "convex/server";
import { v } from "convex/values";

export const callingTables = {
  calling_notes: defineTable({ body: v.string() }),
  calling_others: defineTable({ body: v.string() }),
};
