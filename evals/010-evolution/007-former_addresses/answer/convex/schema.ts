import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  pages: defineTable({
    title: v.string(),
    slug: v.string(),
    body: v.string(),
  }).index("by_slug", ["slug"]),
  // Slugs that pages held before, in the order in which they gave them up.
  formerSlugs: defineTable({
    slug: v.string(),
    pageId: v.id("pages"),
  })
    .index("by_slug", ["slug"])
    .index("by_page", ["pageId"]),
});
