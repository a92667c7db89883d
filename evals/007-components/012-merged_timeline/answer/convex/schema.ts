import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("member"), v.literal("moderator"));

export const action = v.union(
  v.literal("write post"),
  v.literal("remove post"),
  v.literal("publish notice"),
);

export default defineSchema({
  members: defineTable({
    handle: v.string(),
    session: v.string(),
    role,
  }).index("by_session", ["session"]),
  follows: defineTable({
    follower: v.id("members"),
    followed: v.id("members"),
  }).index("by_follower", ["follower"]),
  blocks: defineTable({
    blocker: v.id("members"),
    blocked: v.id("members"),
  }).index("by_blocker", ["blocker"]),
  posts: defineTable({
    author: v.id("members"),
    topic: v.string(),
    text: v.string(),
    at: v.number(),
    state: v.union(v.literal("visible"), v.literal("removed")),
  })
    .index("by_author", ["author", "state", "at"])
    .index("by_author_and_topic", ["author", "state", "topic", "at"])
    .index("by_topic", ["topic", "state", "author", "at"]),
  reposts: defineTable({
    member: v.id("members"),
    post: v.id("posts"),
    at: v.number(),
  }).index("by_member", ["member", "at"]),
  notices: defineTable({
    text: v.string(),
    at: v.number(),
  }).index("by_time", ["at"]),
  log: defineTable({
    member: v.id("members"),
    action,
    at: v.number(),
  }),
});
