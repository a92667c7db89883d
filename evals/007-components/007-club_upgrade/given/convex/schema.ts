import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  members: defineTable({
    name: v.string(),
    email: v.string(),
  }),

  /** Amounts are in euros: 12.5. */
  invoices: defineTable({
    member: v.id("members"),
    amount: v.number(),
    state: v.union(v.literal("open"), v.literal("paid"), v.literal("void")),
  })
    .index("by_member_and_state", ["member", "state"])
    .index("by_state", ["state"]),

  /** Every change of a member, for the auditors. Written by functions.ts and by nothing else. */
  history: defineTable({
    member: v.id("members"),
    change: v.union(
      v.literal("insert"),
      v.literal("update"),
      v.literal("delete"),
    ),
  }).index("by_member", ["member"]),
});
