import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  seats: defineTable({
    show: v.string(),
    seat: v.string(),
    position: v.number(),
    state: v.union(v.literal("free"), v.literal("held"), v.literal("sold")),
    customer: v.union(v.string(), v.null()),
    until: v.number(),
  })
    .index("by_seat", ["show", "seat"])
    .index("by_position", ["show", "position"])
    .index("by_state", ["show", "state", "position"])
    .index("by_until", ["show", "state", "until"])
    .index("by_customer", ["show", "customer", "state", "position"]),
  waiting: defineTable({
    show: v.string(),
    customer: v.string(),
    count: v.number(),
  }).index("by_show", ["show"]),
});
