import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const vSchedule = v.union(
  v.object({ every: v.number() }),
  v.object({ cron: v.string(), timeZone: v.optional(v.string()) }),
);

export default defineSchema({
  checks: defineTable({
    user: v.string(),
    name: v.string(),
    url: v.string(),
    schedule: vSchedule,
    // The id of its job in the component, or null while it is paused.
    job: v.union(v.string(), v.null()),
  }).index("by_user", ["user", "name"]),
  results: defineTable({
    check: v.id("checks"),
    at: v.number(),
    status: v.number(),
  }).index("by_check", ["check", "at"]),
});
