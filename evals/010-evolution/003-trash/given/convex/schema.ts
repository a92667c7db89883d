import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  projects: defineTable({
    name: v.string(),
    taskCount: v.number(),
  }).index("by_name", ["name"]),
  tasks: defineTable({
    projectId: v.id("projects"),
    title: v.string(),
    assignee: v.string(),
    done: v.boolean(),
  })
    .index("by_project", ["projectId"])
    .index("by_assignee_and_done", ["assignee", "done"])
    .searchIndex("search_title", { searchField: "title" }),
  comments: defineTable({
    taskId: v.id("tasks"),
    text: v.string(),
  }).index("by_task", ["taskId"]),
  reminders: defineTable({
    assignee: v.string(),
    titles: v.array(v.string()),
  }),
});
