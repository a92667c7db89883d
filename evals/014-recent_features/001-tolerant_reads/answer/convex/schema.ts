import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  events: defineTable({
    tenant: v.string(),
    at: v.number(),
    text: v.string(),
  }).index("by_tenant", ["tenant", "at"]),
  suspensions: defineTable({ tenant: v.string() }).index("by_tenant", [
    "tenant",
  ]),
});
