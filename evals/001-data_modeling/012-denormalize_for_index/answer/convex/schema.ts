import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  projects: defineTable({
    name: v.string(),
    priority: v.number(),
  }),

  tasks: defineTable({
    projectId: v.id("projects"),
    title: v.string(),
    isDone: v.boolean(),
    // A copy of the project's, because an index covers only fields of its own table.
    priority: v.number(),
  })
    .index("by_projectId", ["projectId"])
    .index("by_isDone_and_priority", ["isDone", "priority"]),
});
