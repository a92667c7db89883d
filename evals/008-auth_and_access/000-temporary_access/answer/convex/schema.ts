import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  rooms: defineTable({
    name: v.string(),
    owner: v.string(),
    seats: v.number(),
  }).index("by_owner", ["owner"]),
  notes: defineTable({
    roomId: v.id("rooms"),
    text: v.string(),
  }).index("by_room", ["roomId"]),
  // Deleted when its time is up, so that subscriptions notice.
  passes: defineTable({
    roomId: v.id("rooms"),
    user: v.string(),
    until: v.number(),
  })
    .index("by_room_and_user", ["roomId", "user"])
    .index("by_user", ["user"]),
});
