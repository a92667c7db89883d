import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const status = v.union(
  v.literal("held"),
  v.literal("booked"),
  v.literal("waiting"),
  v.literal("cancelled"),
  v.literal("expired"),
  v.literal("lapsed"),
);

export default defineSchema({
  reservations: defineTable({
    room: v.string(),
    user: v.string(),
    start: v.number(),
    end: v.number(),
    status,
    // Whether it keeps others out: held or booked.
    active: v.boolean(),
    // Which hold it is, so that the end of an earlier one means nothing.
    expiresAt: v.optional(v.number()),
    series: v.optional(v.id("series")),
    week: v.optional(v.number()),
  })
    .index("by_room_and_active_and_start", ["room", "active", "start"])
    .index("by_room_and_status", ["room", "status"])
    .index("by_series_and_week", ["series", "week"]),
  series: defineTable({ weeks: v.number() }),
});
