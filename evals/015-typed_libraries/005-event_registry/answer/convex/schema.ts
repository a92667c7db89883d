import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { registry } from "./registry";

export const account = v.object({
  owner: v.string(),
  currency: v.union(v.literal("EUR"), v.literal("USD")),
  cents: v.number(),
  open: v.boolean(),
});

export default defineSchema({
  events: defineTable(registry.stored({ stream: v.string(), seq: v.number() })).index("by_stream", ["stream", "seq"]),
  accounts: defineTable(account.extend({ stream: v.string() })).index("by_stream", ["stream"]),
  notices: defineTable({ stream: v.string(), text: v.string() }),
});
