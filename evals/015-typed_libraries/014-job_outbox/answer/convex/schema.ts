import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const jobFields = v.object({
  name: v.string(),
  version: v.number(),
  payload: v.any(),
  attempts: v.number(),
  outcome: v.union(
    v.object({ status: v.literal("waiting") }),
    v.object({ status: v.literal("done"), result: v.any() }),
    v.object({ status: v.literal("failed"), error: v.string() }),
  ),
});

export default defineSchema({
  log: defineTable({ text: v.string() }),
  jobs: defineTable(jobFields),
});
