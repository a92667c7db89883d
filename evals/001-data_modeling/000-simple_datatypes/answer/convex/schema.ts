import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  devices: defineTable({
    name: v.string(),
    battery: v.number(),
    bytesSent: v.int64(),
    isOnline: v.boolean(),
    publicKey: v.bytes(),
    lastError: v.null(),
  }),
});
