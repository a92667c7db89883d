import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const role = v.union(v.literal("member"), v.literal("admin"));

export default defineSchema({
  members: defineTable({
    team: v.string(),
    number: v.number(),
    name: v.string(),
    role,
    tags: v.array(v.string()),
    addedBy: v.string(),
  })
    .index("by_team_and_number", ["team", "number"])
    .index("by_team_and_name", ["team", "name"]),
});
