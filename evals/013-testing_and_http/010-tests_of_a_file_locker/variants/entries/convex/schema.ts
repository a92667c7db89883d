import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const version = v.object({ version: v.number(), size: v.number(), hash: v.string(), at: v.number() });

export default defineSchema({
  entries: defineTable({
    owner: v.string(),
    path: v.string(),
    binned: v.optional(v.number()),
    history: v.array(version),
  }),
  tickets: defineTable({ owner: v.string(), path: v.string(), bytes: v.number(), begun: v.number() }),
  links: defineTable({ entry: v.id("entries"), code: v.string(), left: v.number(), until: v.number() }),
  /** One for each hash, whoever has it. */
  blobs: defineTable({ hash: v.string(), stored: v.id("_storage") }),
});
