import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const kind = v.union(
  v.literal("city"),
  v.literal("cargo"),
  v.literal("electric"),
);

export const state = v.union(
  v.literal("free"),
  v.literal("rented"),
  v.literal("broken"),
);

export default defineSchema({
  bikes: defineTable({
    name: v.string(),
    kind,
    extras: v.array(v.string()),
    state,
  }),
  events: defineTable({
    bike: v.id("bikes"),
    state,
  }).index("by_bike", ["bike"]),
});
