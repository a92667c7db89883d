import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

// Set as long as a document is in the trash: the deletion that put it there.
const deletionId = v.optional(v.id("deletions"));

export default defineSchema({
  projects: defineTable({
    name: v.string(),
    taskCount: v.number(),
    deletionId,
  })
    .index("by_name", ["name", "deletionId"])
    .index("by_deletion", ["deletionId"]),
  tasks: defineTable({
    projectId: v.id("projects"),
    title: v.string(),
    assignee: v.string(),
    done: v.boolean(),
    deletionId,
  })
    .index("by_project", ["projectId", "deletionId"])
    .index("by_assignee_and_done", ["assignee", "done", "deletionId"])
    .index("by_deletion", ["deletionId"])
    .searchIndex("search_title", {
      searchField: "title",
      filterFields: ["deletionId"],
    }),
  comments: defineTable({
    taskId: v.id("tasks"),
    text: v.string(),
    deletionId,
  })
    .index("by_task", ["taskId", "deletionId"])
    .index("by_deletion", ["deletionId"]),
  // One per call that deleted something.
  deletions: defineTable({
    kind: v.union(
      v.literal("project"),
      v.literal("task"),
      v.literal("comment"),
    ),
    itemId: v.union(v.id("projects"), v.id("tasks"), v.id("comments")),
    title: v.string(),
    deletedAt: v.number(),
  })
    .index("by_item", ["itemId"])
    .index("by_deleted_at", ["deletedAt"]),
  reminders: defineTable({
    assignee: v.string(),
    titles: v.array(v.string()),
  }),
});
