import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const memberRole = v.union(v.literal("reader"), v.literal("writer"));

/** Where the last change of a field came from, and the version that it made. */
const origin = { at: v.number(), user: v.string(), device: v.string(), version: v.number() };

export default defineSchema({
  devices: defineTable({
    user: v.string(),
    name: v.string(),
    done: v.number(),
    syncedAt: v.number(),
  }).index("by_user_and_name", ["user", "name"]),
  notebooks: defineTable({
    owner: v.string(),
    name: v.string(),
  }),
  members: defineTable({
    notebookId: v.id("notebooks"),
    user: v.string(),
    role: memberRole,
  }).index("by_notebook_and_user", ["notebookId", "user"]),
  notes: defineTable({
    noteId: v.string(),
    version: v.number(),
    title: v.object({ value: v.string(), ...origin }),
    body: v.object({ value: v.string(), ...origin }),
    notebook: v.object({ value: v.id("notebooks"), ...origin }),
    deletion: v.union(v.null(), v.object({ at: v.number(), receivedAt: v.number() })),
  })
    .index("by_note_id", ["noteId"])
    .index("by_notebook", ["notebook.value"]),
  // The last number that was used in the feed of a user.
  counters: defineTable({ user: v.string(), number: v.number() }).index("by_user", ["user"]),
  // One row for each note that somebody sees or saw, numbered anew whenever it changes for them.
  feed: defineTable({
    user: v.string(),
    noteId: v.string(),
    number: v.number(),
  })
    .index("by_user_and_number", ["user", "number"])
    .index("by_note_and_user", ["noteId", "user"]),
});
