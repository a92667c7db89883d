import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const axis = v.union(v.literal("row"), v.literal("column"));
export const editorOrViewer = v.union(v.literal("editor"), v.literal("viewer"));
export const kind = v.union(v.literal("set"), v.literal("insert"), v.literal("remove"));

/** Lines are rows or columns; each has a number of its own on its axis, which never changes. */
const cell = v.object({ row: v.number(), column: v.number() });
const range = v.object({ top: v.number(), left: v.number(), bottom: v.number(), right: v.number() });

/** What was entered: text, with the cells and ranges that follow what they stand for. */
export const parts = v.array(v.union(v.string(), cell, range));

export default defineSchema({
  sheets: defineTable({ owner: v.string() }).index("by_owner", ["owner"]),

  shares: defineTable({ sheet: v.id("sheets"), user: v.string(), role: editorOrViewer })
    .index("by_sheet", ["sheet", "user"])
    .index("by_user", ["user"]),

  /** All lines that there ever were, in their order. Apart from the cells, so that editing cells does not change it. */
  axes: defineTable({
    sheet: v.id("sheets"),
    axis,
    lines: v.array(v.object({ line: v.number(), exists: v.boolean(), removals: v.number() })),
  }).index("by_sheet", ["sheet", "axis"]),

  /** The edits; `undone` numbers those that a user has undone, in the order in which that happened, and is 0 in force. */
  edits: defineTable({
    sheet: v.id("sheets"),
    order: v.number(),
    user: v.string(),
    kind,
    undone: v.number(),
    /** Which run of undoing it belongs to: each new edit of the user begins another one. */
    run: v.number(),
    axis: v.optional(axis),
    lines: v.optional(v.array(v.number())),
  })
    .index("by_sheet", ["sheet", "order"])
    .index("by_user", ["sheet", "user", "undone", "order"])
    .index("by_run", ["sheet", "user", "run", "undone"]),

  /** The current run of each user. */
  runs: defineTable({ sheet: v.id("sheets"), user: v.string(), run: v.number() }).index("by_sheet", ["sheet", "user"]),

  /** What each edit sets each cell to. */
  writes: defineTable({
    sheet: v.id("sheets"),
    row: v.number(),
    column: v.number(),
    edit: v.id("edits"),
    order: v.number(),
    inForce: v.boolean(),
    by: v.string(),
    parts,
  })
    .index("by_edit", ["edit"])
    .index("by_cell", ["sheet", "row", "column", "inForce", "order"]),

  /** Every cell that was ever set, as it is now. `input` and `value` are those of the time when it was last visible. */
  cells: defineTable({
    sheet: v.id("sheets"),
    row: v.number(),
    column: v.number(),
    parts,
    by: v.string(),
    input: v.string(),
    value: v.union(v.number(), v.string(), v.null()),
  }).index("by_sheet", ["sheet", "row", "column"]),
});
