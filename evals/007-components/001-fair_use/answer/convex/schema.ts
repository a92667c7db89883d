import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  messages: defineTable({ user: v.string(), body: v.string() }),
  doors: defineTable({ door: v.string(), pin: v.string() }).index("by_door", [
    "door",
  ]),
});
