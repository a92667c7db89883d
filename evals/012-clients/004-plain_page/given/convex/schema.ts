import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  rooms: defineTable({ name: v.string(), isBroken: v.boolean() }),
  messages: defineTable({ roomId: v.id("rooms"), text: v.string(), likes: v.number() }).index("by_room", ["roomId"]),
});
