import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  projects: defineTable({ name: v.string() }),
  tasks: defineTable({
    projectId: v.id("projects"),
    title: v.string(),
    done: v.boolean(),
    /** Locked tasks cannot be changed or removed. */
    locked: v.boolean(),
  })
    .index("by_project", ["projectId"])
    .index("by_done", ["projectId", "done"]),
});
