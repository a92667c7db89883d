import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  // `posted` is how many messages were ever posted in it.
  channels: defineTable({ name: v.string(), posted: v.number() }),
  messages: defineTable({
    channel: v.id("channels"),
    number: v.number(),
    author: v.string(),
    body: v.string(),
  }).index("by_channel_and_number", ["channel", "number"]),
  // Messages up to the number `position` are read; the counts follow from it.
  members: defineTable({
    channel: v.id("channels"),
    user: v.string(),
    position: v.number(),
    unread: v.number(),
    mentions: v.number(),
  })
    .index("by_channel_and_user", ["channel", "user"])
    .index("by_user", ["user"]),
  blocks: defineTable({ user: v.string(), other: v.string() }).index(
    "by_user_and_other",
    ["user", "other"],
  ),
});
