import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const endpointState = v.union(v.literal("active"), v.literal("paused"), v.literal("disabled"));

export const deliveryStatus = v.union(
  v.literal("waiting"),
  v.literal("delivered"),
  v.literal("failed"),
  v.literal("dropped"),
);

export default defineSchema({
  endpoints: defineTable({
    owner: v.string(),
    url: v.string(),
    types: v.array(v.string()),
    secret: v.string(),
    state: endpointState,
    failures: v.number(),
  }).index("by_owner", ["owner"]),
  events: defineTable({
    owner: v.string(),
    type: v.string(),
    payload: v.string(),
    key: v.optional(v.string()),
    at: v.number(),
    deliveries: v.number(),
  }).index("by_owner_and_key", ["owner", "key", "at"]),
  deliveries: defineTable({
    endpointId: v.id("endpoints"),
    eventId: v.id("events"),
    status: deliveryStatus,
    attempts: v.number(),
    lastStatus: v.union(v.number(), v.null()),
    nextAt: v.number(),
    round: v.number(),
  }).index("by_endpoint", ["endpointId"]),
});
