import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  entries: defineTable({
    league: v.string(),
    player: v.string(),
    score: v.number(),
  }).index("by_player_and_league", ["player", "league"]),
});
