import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const orderStatus = v.union(v.literal("placed"), v.literal("shipped"), v.literal("delivered"), v.literal("cancelled"));
export const tier = v.union(v.literal("basic"), v.literal("silver"), v.literal("gold"));

/** All amounts are in cents, and taxes are included in prices. */
export default defineSchema({
  staff: defineTable({ name: v.string(), manager: v.boolean() }),

  products: defineTable({
    sku: v.string(),
    name: v.string(),
    price: v.number(),
    taxPercent: v.number(),
    /** Bundles have no stock of their own: they consist of other products. */
    parts: v.optional(v.array(v.object({ sku: v.string(), quantity: v.number() }))),
    onHand: v.number(),
    /** Units sold, and what was paid for them. Units that were taken back do not count. */
    sold: v.number(),
    revenue: v.number(),
  }).index("by_sku", ["sku"]),

  /** Why `onHand` is what it is: the changes of a product add up to it. */
  stockMoves: defineTable({
    sku: v.string(),
    change: v.number(),
    reason: v.union(v.literal("delivery"), v.literal("sale"), v.literal("cancellation"), v.literal("correction")),
    orderId: v.optional(v.id("orders")),
  }).index("by_sku", ["sku"]),

  customers: defineTable({
    name: v.string(),
    /** What the customer has paid for all orders, less what was refunded. */
    spent: v.number(),
    tier,
    /** Customers from before there were points have none. */
    points: v.optional(v.number()),
  }),

  pointEntries: defineTable({ customerId: v.id("customers"), orderId: v.id("orders"), points: v.number() })
    .index("by_customer", ["customerId"])
    .index("by_order", ["orderId"]),

  coupons: defineTable({ code: v.string(), percent: v.number(), uses: v.number(), maxUses: v.number() }).index("by_code", [
    "code",
  ]),

  giftCards: defineTable({ code: v.string(), balance: v.number() }).index("by_code", ["code"]),

  /** Why the balance of a gift card is what it is. */
  giftCardEntries: defineTable({
    giftCardId: v.id("giftCards"),
    amount: v.number(),
    orderId: v.optional(v.id("orders")),
  }).index("by_card", ["giftCardId"]),

  orders: defineTable({
    customerId: v.id("customers"),
    status: orderStatus,
    /** The day on which it was placed, like 2026-03-31. */
    day: v.string(),
    couponId: v.optional(v.id("coupons")),
    giftCardId: v.optional(v.id("giftCards")),
    shipping: v.number(),
    /** What was paid, by card and by gift card, and what was refunded of it. */
    paidByCard: v.number(),
    paidByGiftCard: v.number(),
    refundedToCard: v.number(),
    refundedToGiftCard: v.number(),
    deliveredAt: v.optional(v.number()),
  })
    .index("by_customer", ["customerId"])
    .index("by_day", ["day"]),

  orderLines: defineTable({
    orderId: v.id("orders"),
    sku: v.string(),
    /** Bundles as they were when they were sold. */
    parts: v.optional(v.array(v.object({ sku: v.string(), quantity: v.number() }))),
    quantity: v.number(),
    /** Units that have been taken back. Lines from before that was possible do not have it. */
    gone: v.optional(v.number()),
    /** What all units of the line cost together, after the discount, and the tax in it. */
    amount: v.number(),
    tax: v.number(),
  }).index("by_order", ["orderId"]),

  /** What accountants and managers look at, for each day on which something was sold. */
  dailySales: defineTable({
    day: v.string(),
    orders: v.number(),
    units: v.number(),
    amount: v.number(),
    tax: v.number(),
  }).index("by_day", ["day"]),

  /** What other systems are told, in this order. */
  outbox: defineTable({
    type: v.string(),
    orderId: v.id("orders"),
    amount: v.number(),
  }),

  audit: defineTable({ staffId: v.id("staff"), action: v.string(), orderId: v.optional(v.id("orders")) }),
});
