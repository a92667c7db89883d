import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { fields } from "./lib/content";

/** The lower the position, the earlier in the document. */
const common = { documentId: v.id("documents"), position: v.number() };

export default defineSchema({
  documents: defineTable({ title: v.string() }),
  blocks: defineTable(
    v.union(
      fields.heading.extend({ kind: v.literal("heading"), ...common }),
      fields.paragraph.extend({ kind: v.literal("paragraph"), ...common }),
      fields.todo.extend({ kind: v.literal("todo"), ...common }),
      fields.image.extend({ kind: v.literal("image"), ...common }),
    ),
  ).index("by_document", ["documentId", "position"]),
});
