import { vEntryId } from "@convex-dev/rag";
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const language = v.union(v.literal("en"), v.literal("de"));

export const audience = v.union(v.literal("customer"), v.literal("technician"));

export const state = v.union(
  v.literal("indexing"),
  v.literal("current"),
  v.literal("replaced"),
  v.literal("withdrawn"),
  v.literal("failed"),
);

export const manual = v.object({
  shop: v.string(),
  slug: v.string(),
  title: v.string(),
  language,
  audience,
  importance: v.number(),
  sections: v.array(v.object({ heading: v.string(), text: v.string() })),
});

export default defineSchema({
  versions: defineTable({
    shop: v.string(),
    slug: v.string(),
    hash: v.string(),
    state,
    entry: v.optional(vEntryId),
  }).index("by_manual", ["shop", "slug", "state"]),
});
