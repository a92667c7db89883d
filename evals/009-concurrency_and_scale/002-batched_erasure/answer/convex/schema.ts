import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({
    workspace: v.string(),
    text: v.string(),
  }).index("by_workspace", ["workspace"]),
  comments: defineTable({
    noteId: v.id("notes"),
    text: v.string(),
  }).index("by_note", ["noteId"]),
  erasures: defineTable({
    workspace: v.string(),
    state: v.union(
      v.literal("running"),
      v.literal("canceled"),
      v.literal("done"),
    ),
    deleted: v.number(),
    batchId: v.optional(v.id("_scheduled_functions")),
  }).index("by_workspace", ["workspace"]),
});
