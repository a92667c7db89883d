import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { parcel } from "./contract";

export default defineSchema({
  parcels: defineTable(parcel).index("by_depot", ["depot", "number"]),
  keys: defineTable({
    operation: v.string(),
    key: v.string(),
    fingerprint: v.string(),
    response: v.nullable(v.object({ status: v.number(), body: v.nullable(v.string()) })),
  }).index("by_key", ["operation", "key"]),
});
