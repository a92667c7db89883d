import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { addPoints, addSpent } from "./lib/customers";
import { checkQuantity, existing, fail } from "./lib/errors";
import { distribute, includedTax } from "./lib/money";
import { audit, keptAmount, lineOf, linesOf, orderOf, staffOf, takeOff } from "./lib/orders";
import { changeBalance, refund } from "./lib/payments";
import { countSold, reportSales, tell } from "./lib/sales";
import { moveUnits, productOf } from "./lib/stock";

const SHIPPING = 490;
const FREE_FROM = 5000;

async function couponOf(ctx: QueryCtx, code: string): Promise<Doc<"coupons">> {
  const coupon = await ctx.db
    .query("coupons")
    .withIndex("by_code", (q) => q.eq("code", code))
    .unique();
  if (existing(coupon).uses >= existing(coupon).maxUses) throw fail("USED_UP");
  return existing(coupon);
}

async function giftCardOf(ctx: QueryCtx, code: string): Promise<Doc<"giftCards">> {
  return existing(
    await ctx.db
      .query("giftCards")
      .withIndex("by_code", (q) => q.eq("code", code))
      .unique(),
  );
}

/** Gift cards are used up before the card is charged. */
export const place = mutation({
  args: {
    customerId: v.id("customers"),
    items: v.array(v.object({ sku: v.string(), quantity: v.number() })),
    coupon: v.optional(v.string()),
    giftCard: v.optional(v.string()),
  },
  handler: async (ctx, { customerId, items, ...codes }) => {
    existing(await ctx.db.get("customers", customerId));
    if (items.length === 0) throw fail("INVALID");
    for (const { quantity } of items) checkQuantity(quantity);
    const products = await Promise.all(items.map(async ({ sku }) => await productOf(ctx, sku)));
    const prices = items.map(({ quantity }, index) => quantity * (products[index]?.price ?? 0));
    const listed = prices.reduce((sum, price) => sum + price, 0);
    const coupon = codes.coupon === undefined ? null : await couponOf(ctx, codes.coupon);
    const discounts = distribute(Math.floor((listed * (coupon?.percent ?? 0)) / 100), prices);
    const amounts = prices.map((price, index) => price - (discounts[index] ?? 0));
    const goods = amounts.reduce((sum, amount) => sum + amount, 0);
    const shipping = goods >= FREE_FROM ? 0 : SHIPPING;
    const giftCard = codes.giftCard === undefined ? null : await giftCardOf(ctx, codes.giftCard);
    const paidByGiftCard = Math.min(goods + shipping, giftCard?.balance ?? 0);
    const day = new Date(Date.now()).toISOString().slice(0, 10);
    const orderId = await ctx.db.insert("orders", {
      customerId,
      status: "placed",
      day,
      couponId: coupon?._id,
      giftCardId: giftCard?._id,
      shipping,
      paidByCard: goods + shipping - paidByGiftCard,
      paidByGiftCard,
      refundedToCard: 0,
      refundedToGiftCard: 0,
    });
    const report = { orders: 1, units: 0, amount: 0, tax: 0 };
    for (const [index, { sku, quantity }] of items.entries()) {
      const [amount, product] = [amounts[index] ?? 0, existing(products[index])];
      const tax = includedTax(amount, product.taxPercent);
      const line = { orderId, sku, parts: product.parts, quantity, gone: 0, amount, tax };
      await ctx.db.insert("orderLines", line);
      await moveUnits(ctx, line, -quantity, { reason: "sale", orderId });
      await countSold(ctx, sku, quantity, amount);
      report.units += quantity;
      report.amount += amount;
      report.tax += tax;
    }
    await reportSales(ctx, day, report);
    if (coupon !== null) await ctx.db.patch("coupons", coupon._id, { uses: coupon.uses + 1 });
    if (giftCard !== null) await changeBalance(ctx, giftCard._id, -paidByGiftCard, orderId);
    await addSpent(ctx, customerId, goods + shipping);
    await tell(ctx, "order.placed", existing(await ctx.db.get("orders", orderId)), goods + shipping);
    return orderId;
  },
});

/** An order of which nothing is left is cancelled: its shipping is refunded, its coupon can be used again. */
async function cancelIfEmpty(ctx: MutationCtx, order: Doc<"orders">): Promise<number> {
  const lines = await linesOf(ctx, order._id);
  if (lines.some((line) => (line.gone ?? 0) < line.quantity)) return 0;
  await ctx.db.patch("orders", order._id, { status: "cancelled" });
  await reportSales(ctx, order.day, { orders: -1, units: 0, amount: 0, tax: 0 });
  const coupon = order.couponId === undefined ? null : await ctx.db.get("coupons", order.couponId);
  if (coupon !== null) await ctx.db.patch("coupons", coupon._id, { uses: coupon.uses - 1 });
  return order.shipping;
}

/** Until an order is shipped, its customer can take back some or all of it. */
export const cancelItems = mutation({
  args: {
    customerId: v.id("customers"),
    orderId: v.id("orders"),
    items: v.array(v.object({ lineId: v.id("orderLines"), quantity: v.number() })),
  },
  handler: async (ctx, { customerId, orderId, items }) => {
    const order = await orderOf(ctx, customerId, orderId);
    if (order.status !== "placed") throw fail("WRONG_STATUS");
    let total = 0;
    for (const { lineId, quantity } of items) {
      checkQuantity(quantity);
      const line = await lineOf(ctx, orderId, lineId);
      const { amount, tax } = await takeOff(ctx, line, quantity);
      await moveUnits(ctx, line, quantity, { reason: "cancellation", orderId });
      await countSold(ctx, line.sku, -quantity, -amount);
      await reportSales(ctx, order.day, { orders: 0, units: -quantity, amount: -amount, tax: -tax });
      total += amount;
    }
    total += await cancelIfEmpty(ctx, order);
    await refund(ctx, orderId, total);
    await tell(ctx, "order.refunded", order, total);
    return total;
  },
});

export const ship = mutation({
  args: { staffId: v.id("staff"), orderId: v.id("orders") },
  handler: async (ctx, { staffId, orderId }) => {
    await staffOf(ctx, staffId);
    const order = existing(await ctx.db.get("orders", orderId));
    if (order.status !== "placed") throw fail("WRONG_STATUS");
    await ctx.db.patch("orders", orderId, { status: "shipped" });
    await tell(ctx, "order.shipped", order, 0);
    await audit(ctx, staffId, "order.ship", orderId);
    return null;
  },
});

/** With the delivery the customer gets a point for every 100 cents that the goods cost, not counting shipping. */
export const deliver = mutation({
  args: { staffId: v.id("staff"), orderId: v.id("orders") },
  handler: async (ctx, { staffId, orderId }) => {
    await staffOf(ctx, staffId);
    const order = existing(await ctx.db.get("orders", orderId));
    if (order.status !== "shipped") throw fail("WRONG_STATUS");
    await ctx.db.patch("orders", orderId, { status: "delivered", deliveredAt: Date.now() });
    await addPoints(ctx, order, Math.floor(keptAmount(await linesOf(ctx, orderId)) / 100));
    await tell(ctx, "order.delivered", order, 0);
    await audit(ctx, staffId, "order.deliver", orderId);
    return null;
  },
});

export const get = query({
  args: { customerId: v.id("customers"), orderId: v.id("orders") },
  handler: async (ctx, { customerId, orderId }) => {
    const order = await orderOf(ctx, customerId, orderId);
    const lines = await linesOf(ctx, orderId);
    const { status, day, shipping, paidByCard, paidByGiftCard, refundedToCard, refundedToGiftCard } = order;
    return {
      ...{ status, day, shipping, paidByCard, paidByGiftCard, refundedToCard, refundedToGiftCard },
      lines: lines.map(({ _id, sku, quantity, gone, amount, tax }) => {
        return { lineId: _id, sku, quantity, gone: gone ?? 0, amount, tax };
      }),
    };
  },
});
