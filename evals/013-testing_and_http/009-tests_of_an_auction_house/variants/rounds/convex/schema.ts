import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const job = v.union(v.null(), v.id("_scheduled_functions"));

export default defineSchema({
  lots: defineTable({
    seller: v.string(),
    title: v.string(),
    from: v.number(),
    to: v.number(),
    cents: v.object({
      start: v.number(),
      step: v.number(),
      reserve: v.optional(v.number()),
      buyNow: v.optional(v.number()),
    }),
  }),
  /** Everything that happens from the time a lot is put up until it is put up again. */
  rounds: defineTable({
    lotId: v.id("lots"),
    number: v.number(),
    status: v.string(),
    endsAt: v.number(),
    putOff: v.number(),
    job,
    bids: v.array(v.object({ member: v.string(), max: v.number(), price: v.number(), at: v.number() })),
    offers: v.array(
      v.object({
        member: v.string(),
        cents: v.number(),
        dueAt: v.number(),
        status: v.string(),
        lapsedAt: v.optional(v.number()),
        madeAt: v.number(),
        payment: v.union(v.null(), v.id("tries")),
      }),
    ),
  })
    .index("by_lot", ["lotId", "number"])
    .index("by_end", ["endsAt"]),
  tries: defineTable({ round: v.id("rounds"), offer: v.number(), failures: v.number(), key: v.string() }),
  watched: defineTable({ who: v.string(), lotId: v.id("lots"), gone: v.boolean() }),
});
