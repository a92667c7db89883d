import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const status = v.union(v.literal("open"), v.literal("done"));

export const entry = v.union(
  v.object({ kind: v.literal("text"), text: v.string() }),
  v.object({ kind: v.literal("link"), url: v.string(), label: v.optional(v.string()) }),
  v.object({ kind: v.literal("file"), bytes: v.bytes(), size: v.int64() }),
);

export default defineSchema({
  projects: defineTable({
    name: v.string(),
    locked: v.boolean(),
    open: v.number(),
    total: v.number(),
  }),
  tasks: defineTable({
    project: v.id("projects"),
    title: v.string(),
    slug: v.string(),
    status,
    due: v.optional(v.number()),
    labels: v.array(v.string()),
  }).index("by_project", ["project"]),
  entries: defineTable(entry),
  settings: defineTable({ key: v.string(), value: v.string() }),
  journal: defineTable({
    table: v.string(),
    operation: v.string(),
    before: v.any(),
    after: v.any(),
  }),
});
