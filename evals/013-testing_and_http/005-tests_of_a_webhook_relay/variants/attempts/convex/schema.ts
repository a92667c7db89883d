import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  endpoints: defineTable({
    owner: v.string(),
    url: v.string(),
    types: v.array(v.string()),
    secret: v.string(),
    state: v.union(v.literal("active"), v.literal("paused"), v.literal("disabled")),
  }),
  events: defineTable({
    owner: v.string(),
    type: v.string(),
    payload: v.string(),
    key: v.union(v.string(), v.null()),
    count: v.number(),
    published: v.number(),
  }),
  deliveries: defineTable({
    endpointId: v.id("endpoints"),
    eventId: v.id("events"),
    over: v.union(v.null(), v.literal("delivered"), v.literal("failed"), v.literal("dropped")),
    job: v.union(v.null(), v.id("_scheduled_functions")),
    due: v.number(),
  }),
  attempts: defineTable({ deliveryId: v.id("deliveries"), status: v.union(v.number(), v.null()), counts: v.boolean() }),
  streaks: defineTable({ endpointId: v.id("endpoints"), failed: v.number() }),
});
