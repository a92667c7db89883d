import { runIdValidator } from "@convex-dev/action-retrier";
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  orders: defineTable({
    state: v.union(
      v.literal("sending"),
      v.literal("sent"),
      v.literal("refused"),
      v.literal("failed"),
      v.literal("canceled"),
    ),
    receipt: v.union(v.string(), v.null()),
    runId: v.optional(runIdValidator),
  }).index("by_run", ["runId"]),
});
