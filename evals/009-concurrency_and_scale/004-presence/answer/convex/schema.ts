import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  // Written when somebody comes or goes: queries that many clients subscribe to read nothing else.
  members: defineTable({
    room: v.string(),
    user: v.string(),
  })
    .index("by_room", ["room"])
    .index("by_member", ["user", "room"]),
  // Written with every heartbeat.
  heartbeats: defineTable({
    room: v.string(),
    user: v.string(),
    at: v.number(),
    checkId: v.optional(v.id("_scheduled_functions")),
  }).index("by_member", ["user", "room"]),
  rooms: defineTable({
    room: v.string(),
    online: v.number(),
    peak: v.number(),
  }).index("by_room", ["room"]),
});
