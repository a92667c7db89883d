import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { contact, entry, entryType, part, phase, priority, setting, spec, state } from "./lib/validators";

export default defineSchema({
  customers: defineTable({
    name: v.string(),
    /** Before May: the e-mail address. */
    contact: v.union(contact, v.string()),
    discountPercent: v.optional(v.number()),
    /** Missing before May. */
    note: v.optional(v.nullable(v.string())),
  }),
  instruments: defineTable({
    ownerId: v.id("customers"),
    label: v.string(),
    /** It used to be JSON in a string. */
    spec: v.union(spec, v.string()),
    serial: v.optional(v.string()),
  }).index("by_owner", ["ownerId"]),
  jobs: defineTable({
    instrumentId: v.id("instruments"),
    title: v.string(),
    /** JSON: how many of each sku. */
    parts: v.string(),
    phase,
    /** Missing in jobs of the first version to which nothing has happened since. */
    state: v.optional(state),
    /** Missing in jobs of the first version, which have `urgent` instead. */
    priority: v.optional(priority),
    urgent: v.optional(v.boolean()),
    cents: v.optional(v.number()),
    finishedAt: v.optional(v.number()),
  })
    .index("by_phase", ["phase"])
    .index("by_instrument", ["instrumentId"]),
  events: defineTable(
    v.union(
      v.object({ jobId: v.id("jobs"), at: v.number(), entry }),
      /** The first version; `data` is JSON. */
      v.object({ jobId: v.id("jobs"), at: v.number(), type: entryType, data: v.string() }),
    ),
  ).index("by_job", ["jobId"]),
  parts: defineTable(part).index("by_sku", ["sku"]),
  settings: defineTable(setting).index("by_key", ["key"]),
});
