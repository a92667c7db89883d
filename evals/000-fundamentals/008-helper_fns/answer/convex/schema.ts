import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  teams: defineTable({ name: v.string() }),

  members: defineTable({
    teamId: v.id("teams"),
    user: v.string(),
    role: v.string(),
  }).index("by_team_and_user", ["teamId", "user"]),
});
