import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { fields, oldParagraph } from "./lib/content";

/** The lower the position, the earlier in the document, or in the toggle that is the parent. */
const common = { documentId: v.id("documents"), position: v.number(), parentId: v.optional(v.id("blocks")) };

export default defineSchema({
  documents: defineTable({ title: v.string() }),
  blocks: defineTable(
    v.union(
      fields.heading.extend({ kind: v.literal("heading"), ...common }),
      fields.paragraph.extend({ kind: v.literal("paragraph"), ...common }),
      oldParagraph.extend({ kind: v.literal("paragraph"), ...common }),
      fields.todo.extend({ kind: v.literal("todo"), ...common }),
      fields.image.extend({ kind: v.literal("image"), ...common }),
      fields.list.extend({ kind: v.literal("list"), ...common }),
      fields.toggle.extend({ kind: v.literal("toggle"), ...common }),
    ),
  ).index("by_document", ["documentId", "position"]),
});
