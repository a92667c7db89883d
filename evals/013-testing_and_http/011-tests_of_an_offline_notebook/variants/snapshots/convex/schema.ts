import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notebooks: defineTable({ label: v.string() }),
  grants: defineTable({
    book: v.id("notebooks"),
    person: v.string(),
    level: v.union(v.literal(0), v.literal(1), v.literal(2)),
  })
    .index("by_book", ["book", "person"])
    .index("by_person", ["person"]),
  machines: defineTable({ person: v.string(), label: v.string(), last: v.number(), alive: v.number() }).index(
    "by_person",
    ["person", "label"],
  ),
  texts: defineTable({
    publicId: v.string(),
    book: v.id("notebooks"),
    title: v.string(),
    body: v.string(),
    revision: v.number(),
  })
    .index("by_public_id", ["publicId"])
    .index("by_book", ["book"]),
  changes: defineTable({
    text: v.id("texts"),
    field: v.union(v.literal("title"), v.literal("body"), v.literal("book")),
    time: v.number(),
    person: v.string(),
    machine: v.string(),
    revision: v.number(),
  }).index("by_text", ["text", "field"]),
  // Notes in the trash have a row here.
  trash: defineTable({ text: v.id("texts"), time: v.number() }).index("by_text", ["text"]),
  // What a device has, after a page. A cursor is the ID of such a row.
  snapshots: defineTable({
    has: v.array(v.object({ publicId: v.string(), text: v.id("texts"), revision: v.number() })),
    time: v.number(),
  }),
  // One queue for everything that must happen later.
  alarms: defineTable({
    due: v.number(),
    what: v.union(
      v.object({ machine: v.id("machines") }),
      v.object({ trash: v.id("trash") }),
    ),
  }).index("by_due", ["due"]),
});
