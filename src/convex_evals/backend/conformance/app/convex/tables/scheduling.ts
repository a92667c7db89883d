import { defineTable } from "convex/server";
import { v } from "convex/values";

export const schedulingTables = {
  scheduling_runs: defineTable({
    name: v.string(),
    at: v.number(),
    identity: v.boolean(),
    state: v.optional(v.string()),
    job: v.optional(v.union(v.string(), v.null())),
  }).index("by_name", ["name"]),
};
