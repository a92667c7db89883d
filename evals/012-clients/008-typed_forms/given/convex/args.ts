import { v } from "convex/values";

/** Arguments of `orders.place`. */
export const orderArgs = {
  requestId: v.string(),
  shopId: v.id("shops"),
  customer: v.object({
    name: v.string(),
    email: v.optional(v.string()),
    address: v.object({ street: v.string(), floor: v.optional(v.number()) }),
  }),
  lines: v.array(
    v.object({
      product: v.string(),
      amount: v.number(),
      size: v.optional(v.union(v.literal("S"), v.literal("M"), v.literal("L"))),
      extras: v.array(v.string()),
    }),
  ),
  payment: v.union(
    v.object({ kind: v.literal("card"), cardNumber: v.string(), name: v.string() }),
    v.object({
      kind: v.literal("invoice"),
      name: v.string(),
      days: v.union(v.literal(14), v.literal(30)),
      limit: v.int64(),
    }),
  ),
  gift: v.optional(v.object({ to: v.string(), wrapped: v.boolean() })),
  newsletter: v.optional(v.boolean()),
};

/** Arguments of `reviews.add`. */
export const reviewArgs = {
  requestId: v.string(),
  orderId: v.id("orders"),
  stars: v.union(v.literal(1), v.literal(2), v.literal(3)),
  text: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
};
