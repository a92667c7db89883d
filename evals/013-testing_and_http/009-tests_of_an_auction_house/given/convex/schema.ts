import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const lotState = v.union(
  v.literal("open"),
  v.literal("withdrawn"),
  v.literal("unsold"),
  v.literal("offered"),
  v.literal("sold"),
  v.literal("closed"),
);

export const offerState = v.union(v.literal("open"), v.literal("paid"), v.literal("declined"), v.literal("lapsed"));

/** What the seller asks for. */
export const terms = {
  title: v.string(),
  startCents: v.number(),
  stepCents: v.number(),
  reserveCents: v.optional(v.number()),
  buyNowCents: v.optional(v.number()),
};

export default defineSchema({
  lots: defineTable({
    ...terms,
    seller: v.string(),
    state: lotState,
    endsAt: v.number(),
    /** How long the lot is open if nothing extends it. */
    duration: v.number(),
    /** 1, or 2 if the lot was put up again. */
    round: v.number(),
    extensions: v.number(),
  }).index("by_state_and_end", ["state", "endsAt"]),
  bids: defineTable({
    lotId: v.id("lots"),
    round: v.number(),
    member: v.string(),
    maxCents: v.number(),
    /** After the bid. */
    priceCents: v.number(),
    at: v.number(),
  }).index("by_lot", ["lotId", "round"]),
  offers: defineTable({
    lotId: v.id("lots"),
    round: v.number(),
    member: v.string(),
    priceCents: v.number(),
    dueAt: v.number(),
    state: offerState,
    endedAt: v.union(v.number(), v.null()),
  })
    .index("by_lot", ["lotId", "round"])
    .index("by_member", ["member"])
    .index("by_member_and_end", ["member", "state", "endedAt"]),
  payments: defineTable({
    offerId: v.id("offers"),
    isPending: v.boolean(),
    failedCalls: v.number(),
  }).index("by_offer", ["offerId", "isPending"]),
  watches: defineTable({
    member: v.string(),
    lotId: v.id("lots"),
  })
    .index("by_member", ["member"])
    .index("by_member_and_lot", ["member", "lotId"]),
});
