import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

// TODO types. What is in the tables, as far as we know:
//
// customers: name, contact, discountPercent (no field: no discount), note (a text or null). Before May, contact was the
// e-mail address as a plain string, and there was no note.
// instruments: ownerId, label, spec, serial (no field: unknown). spec used to be JSON in a string. Wind instruments from
// that time may lack the pitch.
// jobs: instrumentId, title, parts (JSON in a string: sku -> count), and
//   now: phase, state, priority
//   first version: phase ("waiting" or "done"), urgent (true/false) instead of priority, no state. Those done have cents and
//   finishedAt. When something happens to such a job, it gets a state and keeps its old fields.
// events: jobId, at, entry. First version: jobId, at, type and data (JSON in a string: the entry without its type) instead
// of entry. Notes had no author then.
// parts: sku, name, cents, stock (null: not counted).
// settings: key, value. One row for each key that has been set.
export default defineSchema({
  customers: defineTable(v.any()),
  instruments: defineTable(v.any()).index("by_owner", ["ownerId"]),
  jobs: defineTable(v.any()).index("by_phase", ["phase"]).index("by_instrument", ["instrumentId"]),
  events: defineTable(v.any()).index("by_job", ["jobId"]),
  parts: defineTable(v.any()).index("by_sku", ["sku"]),
  settings: defineTable(v.any()).index("by_key", ["key"]),
});
