import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  bookings: defineTable({
    guest: v.string(),
    room: v.number(),
    nights: v.number(),
  }).index("by_guest_and_room", ["guest", "room"]),

  taxis: defineTable({
    guest: v.string(),
    threadId: v.string(),
    time: v.string(),
  }).index("by_guest", ["guest"]),

  /** What the language model has used, one row per request. */
  usage: defineTable({
    guest: v.string(),
    input: v.number(),
    output: v.number(),
  }).index("by_guest", ["guest"]),
});
