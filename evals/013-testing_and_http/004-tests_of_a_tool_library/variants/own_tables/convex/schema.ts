import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const loanStatus = v.union(
  ...(["queued", "held", "out", "returned", "cancelled", "expired"] as const).map((each) => v.literal(each)),
);

export default defineSchema({
  tools: defineTable({ name: v.string(), copies: v.number(), depositCents: v.number() }),
  loans: defineTable({ toolId: v.id("tools"), member: v.string(), days: v.number(), end: v.string() }),
  waiting: defineTable({ toolId: v.id("tools"), loanId: v.id("loans") }).index("by_tool", ["toolId"]),
  holds: defineTable({ toolId: v.id("tools"), loanId: v.id("loans"), until: v.number(), job: v.id("_scheduled_functions") }),
  borrowed: defineTable({ toolId: v.id("tools"), loanId: v.id("loans"), due: v.number(), extensions: v.number() }),
  entries: defineTable({ member: v.string(), cents: v.number(), reference: v.optional(v.string()) }),
});
