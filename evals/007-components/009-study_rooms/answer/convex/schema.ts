import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  rooms: defineTable({ room: v.string(), host: v.string() }).index("by_room", [
    "room",
  ]),
});
