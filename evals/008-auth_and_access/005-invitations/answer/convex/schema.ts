import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("admin"), v.literal("member"));

export default defineSchema({
  teams: defineTable({ name: v.string(), seats: v.number() }),
  members: defineTable({
    teamId: v.id("teams"),
    user: v.string(),
    role,
  }).index("by_team_and_user", ["teamId", "user"]),
  // Invitations that were withdrawn, replaced or orphaned are deleted; accepted ones have `acceptedBy`.
  invitations: defineTable({
    teamId: v.id("teams"),
    email: v.string(),
    role,
    hash: v.string(),
    sender: v.string(),
    expires: v.number(),
    acceptedBy: v.nullable(v.string()),
  })
    .index("by_hash", ["hash"])
    .index("by_state", ["teamId", "acceptedBy", "email"]),
});
