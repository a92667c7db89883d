import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const state = v.union(
  v.literal("ready"),
  v.literal("delayed"),
  v.literal("leased"),
  v.literal("done"),
  v.literal("dead"),
);

export default defineSchema({
  jobs: defineTable({
    queue: v.string(),
    payload: v.string(),
    // The negated priority: an index can then sort by priority downwards and by time upwards.
    rank: v.number(),
    state,
    attempts: v.number(),
    lease: v.union(v.string(), v.null()),
    leaseEnds: v.number(),
    diedAt: v.number(),
  })
    .index("by_rank", ["queue", "state", "rank"])
    .index("by_death", ["queue", "state", "diedAt"]),
  counts: defineTable({
    queue: v.string(),
    ready: v.number(),
    delayed: v.number(),
    leased: v.number(),
    done: v.number(),
    dead: v.number(),
  }).index("by_queue", ["queue"]),
});
