import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const board = v.object({
  treasures: v.union(v.array(v.number()), v.null()),
  digs: v.array(v.object({ cell: v.number(), found: v.boolean() })),
  strikes: v.number(),
});

export default defineSchema({
  games: defineTable({
    first: v.string(),
    second: v.union(v.string(), v.null()),
    status: v.union(
      v.literal("open"),
      v.literal("hiding"),
      v.literal("playing"),
      v.literal("over"),
    ),
    // Whose turn it is, 0 or 1.
    turn: v.number(),
    boards: v.array(board),
    winner: v.union(v.string(), v.null()),
    // Counts the time limits that have begun, so that an old one means nothing.
    limit: v.number(),
    deadline: v.union(v.number(), v.null()),
  })
    .index("by_first", ["first"])
    .index("by_second", ["second"]),
});
