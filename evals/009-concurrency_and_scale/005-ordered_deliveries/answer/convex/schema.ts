import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  endpoints: defineTable({
    url: v.string(),
    // idle: nothing to send; sending: a request is under way; waiting: until it is sent again.
    state: v.union(
      v.literal("idle"),
      v.literal("sending"),
      v.literal("waiting"),
      v.literal("paused"),
    ),
    published: v.number(),
    delivered: v.number(),
    // Counts all requests, so that reports about earlier ones can be told apart.
    request: v.number(),
    failures: v.number(),
  }).index("by_url", ["url"]),
  events: defineTable({
    endpointId: v.id("endpoints"),
    position: v.number(),
    event: v.string(),
  }).index("by_position", ["endpointId", "position"]),
});
