import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation, mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { addPoints } from "./lib/customers";
import { checkQuantity, existing, fail } from "./lib/errors";
import { audit, keptAmount, lineOf, linesOf, orderOf, staffOf, takeOff } from "./lib/orders";
import { refund } from "./lib/payments";
import { countSold, reportSales, tell } from "./lib/sales";
import { moveUnits } from "./lib/stock";

const DAY = 24 * 60 * 60 * 1000;
const RETURNABLE_FOR = 30 * DAY;
const OPEN_FOR = 14 * DAY;

function checkOnce(items: { lineId: Id<"orderLines"> }[]): void {
  if (new Set(items.map(({ lineId }) => lineId)).size !== items.length) throw fail("INVALID");
}

/** Returns whose time is up are not open, even if the scheduler is late. */
function isOpen({ status, expiresAt }: Doc<"returns">): boolean {
  return status === "open" && Date.now() < expiresAt;
}

/** How many units of a line are in returns that are open. */
async function announced(ctx: QueryCtx, line: Doc<"orderLines">): Promise<number> {
  const returns = await ctx.db
    .query("returns")
    .withIndex("by_order", (q) => q.eq("orderId", line.orderId).eq("status", "open"))
    .collect();
  const items = returns.filter(isOpen).flatMap(({ items }) => items);
  return items.reduce((sum, { lineId, quantity }) => (lineId === line._id ? sum + quantity : sum), 0);
}

export const request = mutation({
  args: {
    customerId: v.id("customers"),
    orderId: v.id("orders"),
    items: v.array(v.object({ lineId: v.id("orderLines"), quantity: v.number() })),
  },
  handler: async (ctx, { customerId, orderId, items }) => {
    const order = await orderOf(ctx, customerId, orderId);
    const lines = await Promise.all(items.map(async ({ lineId }) => await lineOf(ctx, orderId, lineId)));
    const { status, deliveredAt = 0 } = order;
    if (status !== "delivered" || Date.now() - deliveredAt > RETURNABLE_FOR) throw fail("WRONG_STATUS");
    if (items.length === 0) throw fail("INVALID");
    checkOnce(items);
    for (const [index, { quantity }] of items.entries()) {
      checkQuantity(quantity);
      const line = existing(lines[index]);
      if (quantity > line.quantity - (line.gone ?? 0) - (await announced(ctx, line))) throw fail("INVALID");
    }
    const expiresAt = Date.now() + OPEN_FOR;
    const fields = { customerId, orderId, items, status: "open" as const, refunded: 0, expiresAt };
    const returnId = await ctx.db.insert("returns", fields);
    await ctx.scheduler.runAt(expiresAt, internal.returns.expire, { returnId });
    return returnId;
  },
});

export const expire = internalMutation({
  args: { returnId: v.id("returns") },
  handler: async (ctx, { returnId }) => {
    const { status } = existing(await ctx.db.get("returns", returnId));
    if (status === "open") await ctx.db.patch("returns", returnId, { status: "expired" });
    return null;
  },
});

function checkReceived(announced: Doc<"returns">, items: { lineId: Id<"orderLines">; good: number; damaged: number }[]) {
  checkOnce(items);
  for (const { lineId, good, damaged } of items) {
    const most = announced.items.find((item) => item.lineId === lineId)?.quantity ?? 0;
    const isCount = [good, damaged].every((number) => Number.isInteger(number) && number >= 0);
    if (!isCount || good + damaged > most) throw fail("INVALID");
  }
  if (items.every(({ good, damaged }) => good + damaged === 0)) throw fail("INVALID");
}

/** Takes units out of the books. What they cost. */
async function takeBack(ctx: MutationCtx, order: Doc<"orders">, line: Doc<"orderLines">, good: number, units: number) {
  const { amount, tax } = await takeOff(ctx, line, units);
  if (good > 0) await moveUnits(ctx, line, good, { reason: "return", orderId: order._id });
  await countSold(ctx, line.sku, -units, -amount);
  await reportSales(ctx, order.day, { orders: 0, units: -units, amount: -amount, tax: -tax });
  return amount;
}

/** Old orders have brought no points, so none can be taken for them. */
async function takePoints(ctx: MutationCtx, order: Doc<"orders">): Promise<void> {
  const entries = await ctx.db
    .query("pointEntries")
    .withIndex("by_order", (q) => q.eq("orderId", order._id))
    .collect();
  const points = entries.reduce((sum, entry) => sum + entry.points, 0);
  const deserved = Math.floor(keptAmount(await linesOf(ctx, order._id)) / 100);
  await addPoints(ctx, order, Math.min(0, deserved - points));
}

export const receive = mutation({
  args: {
    staffId: v.id("staff"),
    returnId: v.id("returns"),
    items: v.array(v.object({ lineId: v.id("orderLines"), good: v.number(), damaged: v.number() })),
  },
  handler: async (ctx, { staffId, returnId, items }) => {
    await staffOf(ctx, staffId);
    const found = existing(await ctx.db.get("returns", returnId));
    const known = new Set(found.items.map(({ lineId }) => lineId));
    if (items.some(({ lineId }) => !known.has(lineId))) throw fail("NOT_FOUND");
    if (!isOpen(found)) throw fail("WRONG_STATUS");
    checkReceived(found, items);
    const order = existing(await ctx.db.get("orders", found.orderId));
    let refunded = 0;
    for (const { lineId, good, damaged } of items) {
      if (good + damaged === 0) continue;
      refunded += await takeBack(ctx, order, await lineOf(ctx, order._id, lineId), good, good + damaged);
    }
    await takePoints(ctx, order);
    await refund(ctx, order._id, refunded);
    await tell(ctx, "order.refunded", order, refunded);
    await audit(ctx, staffId, "return.receive", order._id);
    await ctx.db.patch("returns", returnId, { status: "received", refunded });
    return refunded;
  },
});

export const reject = mutation({
  args: { staffId: v.id("staff"), returnId: v.id("returns") },
  handler: async (ctx, { staffId, returnId }) => {
    if (!(await staffOf(ctx, staffId)).manager) throw fail("FORBIDDEN");
    const found = existing(await ctx.db.get("returns", returnId));
    if (!isOpen(found)) throw fail("WRONG_STATUS");
    await ctx.db.patch("returns", returnId, { status: "rejected" });
    await audit(ctx, staffId, "return.reject", found.orderId);
    return null;
  },
});

export const list = query({
  args: { customerId: v.id("customers") },
  handler: async (ctx, { customerId }) => {
    const returns = await ctx.db
      .query("returns")
      .withIndex("by_customer", (q) => q.eq("customerId", customerId))
      .collect();
    return returns.map(({ _id, orderId, status, refunded }) => ({ returnId: _id, orderId, status, refunded }));
  },
});
