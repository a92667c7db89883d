import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const loanStatus = v.union(
  v.literal("queued"),
  v.literal("held"),
  v.literal("out"),
  v.literal("returned"),
  v.literal("cancelled"),
  v.literal("expired"),
);

export default defineSchema({
  tools: defineTable({
    name: v.string(),
    copies: v.number(),
    depositCents: v.number(),
  }).index("by_name", ["name"]),
  loans: defineTable({
    toolId: v.id("tools"),
    member: v.string(),
    days: v.number(),
    status: loanStatus,
    since: v.number(),
    until: v.optional(v.number()),
    extensions: v.number(),
  })
    .index("by_tool_and_status", ["toolId", "status", "since"])
    .index("by_member", ["member"]),
  accounts: defineTable({
    member: v.string(),
    owedCents: v.number(),
  }).index("by_member", ["member"]),
  payments: defineTable({
    reference: v.string(),
    member: v.string(),
    cents: v.number(),
  }).index("by_reference", ["reference"]),
});
