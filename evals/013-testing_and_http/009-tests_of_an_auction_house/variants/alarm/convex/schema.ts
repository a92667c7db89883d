import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const phases = v.union(
  ...(["open", "withdrawn", "unsold", "offered", "sold", "closed"] as const).map((name) => v.literal(name)),
);
export const results = v.union(...(["open", "paid", "declined", "lapsed"] as const).map((name) => v.literal(name)));

export default defineSchema({
  lots: defineTable({
    owner: v.string(),
    name: v.string(),
    start: v.number(),
    step: v.number(),
    reserve: v.union(v.number(), v.null()),
    buyNow: v.union(v.number(), v.null()),
    phase: phases,
    until: v.number(),
    length: v.number(),
    extensionsLeft: v.number(),
    wasPutUpAgain: v.boolean(),
    bidCount: v.number(),
  }).index("by_phase", ["phase", "until"]),
  maxima: defineTable({ lot: v.id("lots"), who: v.string(), most: v.number(), turn: v.number() }) //
    .index("by_lot", ["lot"]),
  log: defineTable({ lot: v.id("lots"), who: v.string(), price: v.number(), time: v.number() }) //
    .index("by_lot", ["lot"]),
  offers: defineTable({
    lot: v.id("lots"),
    who: v.string(),
    price: v.number(),
    due: v.number(),
    result: results,
    isCurrent: v.boolean(),
    isFirst: v.boolean(),
    payment: v.union(v.id("charges"), v.null()),
  }).index("by_lot", ["lot", "isCurrent"]),
  charges: defineTable({ offer: v.id("offers"), call: v.number() }),
  lapses: defineTable({ who: v.string(), time: v.number() }).index("by_who", ["who", "time"]),
  lists: defineTable({ who: v.string(), lots: v.array(v.id("lots")) }).index("by_who", ["who"]),
  agenda: defineTable({
    at: v.number(),
    what: v.union(
      v.object({ kind: v.literal("end"), lot: v.id("lots") }),
      v.object({ kind: v.literal("due"), offer: v.id("offers") }),
      v.object({ kind: v.literal("silence"), charge: v.id("charges"), call: v.number() }),
      v.object({ kind: v.literal("call"), charge: v.id("charges"), call: v.number() }),
    ),
  }).index("by_at", ["at"]),
  alarm: defineTable({ at: v.number(), job: v.id("_scheduled_functions") }),
});
