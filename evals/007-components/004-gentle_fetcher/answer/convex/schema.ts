import { vWorkId } from "@convex-dev/workpool";
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  batches: defineTable({
    urgent: v.boolean(),
    callback: v.string(),
    // How many pages have not ended.
    left: v.number(),
  }),
  pages: defineTable({
    batch: v.id("batches"),
    url: v.string(),
    workId: vWorkId,
    // Unset until it has ended.
    outcome: v.optional(
      v.union(v.literal("done"), v.literal("failed"), v.literal("canceled")),
    ),
    body: v.optional(v.string()),
  })
    .index("by_batch", ["batch"])
    .index("by_work", ["workId"]),
  // At most one; there is none before the limit is set.
  settings: defineTable({ limit: v.number() }),
});
