import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  bookings: defineTable({ room: v.string(), start: v.number(), end: v.number() }).index("by_room", ["room"]),
});
