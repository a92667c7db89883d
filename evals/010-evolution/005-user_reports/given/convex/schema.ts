import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  groups: defineTable({
    name: v.string(),
    // of the group's time zone, in minutes: 540 in Tokyo, -300 in Lima
    utcOffset: v.number(),
  }),
  members: defineTable({
    groupId: v.id("groups"),
    user: v.string(),
    // when the member last opened the group
    openedAt: v.number(),
    // the number on the badge
    unread: v.number(),
  })
    .index("by_group_and_user", ["groupId", "user"])
    .index("by_user", ["user"]),
  posts: defineTable({
    groupId: v.id("groups"),
    author: v.string(),
    text: v.string(),
    publishedAt: v.number(),
  }).index("by_group_and_time", ["groupId", "publishedAt"]),
});
