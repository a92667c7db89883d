import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("owner"), v.literal("admin"), v.literal("member"), v.literal("guest"));
export const taskState = v.union(v.literal("open"), v.literal("done"));
export const notificationKind = v.union(v.literal("assigned"), v.literal("mentioned"), v.literal("commented"));

export default defineSchema({
  workspaces: defineTable({
    name: v.string(),
    /** How many members are active. */
    activeMembers: v.number(),
    /** How many members there may be besides guests, if there is a limit. */
    seats: v.optional(v.number()),
  }),

  members: defineTable({
    workspaceId: v.id("workspaces"),
    name: v.string(),
    email: v.string(),
    role,
    /** Members are never deleted, only deactivated. */
    active: v.boolean(),
    /** See lib/counters.ts. */
    openTasks: v.number(),
    unread: v.number(),
    /** Members who joined before there were karma points have none. */
    karma: v.optional(v.number()),
    /** The account that has everything of this one: it is a duplicate, which nobody can see or use any longer. */
    mergedInto: v.optional(v.id("members")),
  })
    .index("by_workspace", ["workspaceId"])
    .index("by_email", ["workspaceId", "email"]),

  /** Addresses of former duplicates, with which members can log in besides their own. */
  aliases: defineTable({ workspaceId: v.id("workspaces"), email: v.string(), memberId: v.id("members") })
    .index("by_email", ["workspaceId", "email"])
    .index("by_member", ["memberId"]),

  teams: defineTable({
    workspaceId: v.id("workspaces"),
    name: v.string(),
    leadId: v.optional(v.id("members")),
    size: v.number(),
  }).index("by_workspace", ["workspaceId"]),

  teamMembers: defineTable({ teamId: v.id("teams"), memberId: v.id("members") })
    .index("by_team", ["teamId", "memberId"])
    .index("by_member", ["memberId"]),

  projects: defineTable({
    workspaceId: v.id("workspaces"),
    name: v.string(),
    ownerId: v.id("members"),
    nextNumber: v.number(),
    openTasks: v.number(),
    archived: v.boolean(),
  })
    .index("by_workspace", ["workspaceId"])
    .index("by_owner", ["ownerId"]),

  access: defineTable({
    projectId: v.id("projects"),
    memberId: v.id("members"),
    level: v.union(v.literal("read"), v.literal("write")),
  })
    .index("by_project", ["projectId", "memberId"])
    .index("by_member", ["memberId"]),

  tasks: defineTable({
    projectId: v.id("projects"),
    number: v.number(),
    title: v.string(),
    state: taskState,
    authorId: v.id("members"),
    /** Tasks from before 2024 do not have it. */
    authorName: v.optional(v.string()),
    /** In the order in which they were assigned, nobody twice. */
    assigneeIds: v.array(v.id("members")),
    votes: v.number(),
    comments: v.number(),
    minutes: v.number(),
    deletedAt: v.optional(v.number()),
  })
    .index("by_project", ["projectId", "number"])
    .index("by_author", ["authorId"]),

  votes: defineTable({ taskId: v.id("tasks"), memberId: v.id("members") })
    .index("by_task", ["taskId", "memberId"])
    .index("by_member", ["memberId"]),

  watchers: defineTable({ taskId: v.id("tasks"), memberId: v.id("members"), muted: v.boolean() })
    .index("by_task", ["taskId", "memberId"])
    .index("by_member", ["memberId"]),

  comments: defineTable({
    taskId: v.id("tasks"),
    authorId: v.id("members"),
    authorName: v.string(),
    body: v.string(),
    mentions: v.array(v.id("members")),
    /** Names of emoji to the number of members who reacted with it; none is 0. */
    reactions: v.record(v.string(), v.number()),
    deletedAt: v.optional(v.number()),
  })
    .index("by_task", ["taskId"])
    .index("by_author", ["authorId"]),

  reactions: defineTable({ commentId: v.id("comments"), memberId: v.id("members"), emoji: v.string() })
    .index("by_comment", ["commentId", "memberId", "emoji"])
    .index("by_member", ["memberId"]),

  notifications: defineTable({
    memberId: v.id("members"),
    kind: notificationKind,
    taskId: v.id("tasks"),
    actorId: v.id("members"),
    /** How many times it has happened since the member last read about it. */
    times: v.number(),
    read: v.boolean(),
  })
    .index("by_member", ["memberId", "read"])
    .index("by_subject", ["memberId", "taskId", "kind", "read"])
    .index("by_actor", ["actorId"]),

  timeEntries: defineTable({
    taskId: v.id("tasks"),
    memberId: v.id("members"),
    day: v.string(),
    minutes: v.number(),
  })
    .index("by_task", ["taskId"])
    .index("by_member", ["memberId", "day"]),

  timesheets: defineTable({
    memberId: v.id("members"),
    month: v.string(),
    minutes: v.number(),
    approvedBy: v.optional(v.id("members")),
  })
    .index("by_member", ["memberId", "month"])
    .index("by_approver", ["approvedBy"]),

  pins: defineTable({ memberId: v.id("members"), taskId: v.id("tasks"), position: v.number() })
    .index("by_member", ["memberId", "position"])
    .index("by_task", ["taskId"]),

  reminders: defineTable({
    memberId: v.id("members"),
    taskId: v.id("tasks"),
    at: v.number(),
    jobId: v.id("_scheduled_functions"),
  })
    .index("by_member", ["memberId", "taskId"])
    .index("by_task", ["taskId"]),

  activity: defineTable({
    workspaceId: v.id("workspaces"),
    actorId: v.id("members"),
    actorName: v.string(),
    action: v.string(),
    subject: v.string(),
  })
    .index("by_workspace", ["workspaceId"])
    .index("by_actor", ["actorId"]),
});
