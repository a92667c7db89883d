import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  follows: defineTable({ follower: v.string(), followed: v.string() })
    .index("by_follower", ["follower"])
    .index("by_followed", ["followed"]),
});
