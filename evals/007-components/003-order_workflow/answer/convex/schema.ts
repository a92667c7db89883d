import { vWorkflowId } from "@convex-dev/workflow";
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const vState = v.union(
  v.literal("preparing"),
  v.literal("waiting"),
  v.literal("shipping"),
  v.literal("shipped"),
  v.literal("stuck"),
  v.literal("refused"),
  v.literal("rejected"),
  v.literal("expired"),
  v.literal("canceled"),
);

export default defineSchema({
  orders: defineTable({
    item: v.string(),
    url: v.string(),
    state: vState,
    // The workflow of the order, and the one that undoes what a canceled order had done.
    workflows: v.array(vWorkflowId),
  }),
});
