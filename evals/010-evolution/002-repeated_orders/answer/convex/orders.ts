import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server";
import { line } from "./schema";

type Lines = Doc<"orders">["lines"];
type Placed = { orderId: Id<"orders">; number: number; cents: number };

const MEMORY_MS = 7 * 24 * 60 * 60 * 1000;

export const place = mutation({
  args: {
    customerId: v.id("customers"),
    lines: v.array(line),
    clientRef: v.optional(v.string()),
  },
  handler: async (ctx, { customerId, lines, clientRef }): Promise<Placed> => {
    if (clientRef !== undefined) {
      const earlier = await findEarlier(ctx, customerId, clientRef, lines);
      if (earlier) return earlier;
    }
    const cents = await takeFromStock(ctx, lines);
    const number = await nextNumber(ctx);
    const orderId = await ctx.db.insert("orders", {
      customerId,
      number,
      lines,
      cents,
      status: "placed",
      clientRef,
    });
    await reward(ctx, customerId, cents);
    await ctx.scheduler.runAfter(0, internal.mails.confirm, {
      customerId,
      number,
      cents,
    });
    const result = { orderId, number, cents };
    if (clientRef !== undefined) {
      await ctx.db.insert("placements", {
        customerId,
        clientRef,
        lines,
        result,
      });
    }
    return result;
  },
});

/** The same order once more, at today's prices. */
export const placeAgain = mutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order === null) throw new ConvexError({ code: "NO_SUCH_ORDER" });
    const { _id, _creationTime, ...fields } = order;
    const cents = await takeFromStock(ctx, order.lines);
    const number = await nextNumber(ctx);
    await reward(ctx, order.customerId, cents);
    return await ctx.db.insert("orders", {
      ...fields,
      number,
      cents,
      status: "placed",
      copyOf: orderId,
    });
  },
});

export const changeQuantity = mutation({
  args: {
    orderId: v.id("orders"),
    productId: v.id("products"),
    quantity: v.number(),
  },
  handler: async (ctx, { orderId, productId, quantity }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order === null) throw new ConvexError({ code: "NO_SUCH_ORDER" });
    await putBackIntoStock(ctx, order.lines);
    const lines = order.lines.map((each) =>
      each.productId === productId ? { productId, quantity } : each,
    );
    const cents = await takeFromStock(ctx, lines);
    await ctx.db.patch("orders", orderId, { lines, cents });
    return null;
  },
});

export const cancel = mutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    const order = await ctx.db.get("orders", orderId);
    if (order === null || order.status === "cancelled") return null;
    await putBackIntoStock(ctx, order.lines);
    await ctx.db.patch("orders", orderId, { status: "cancelled" });
    return null;
  },
});

/** For customers who want their data to be deleted. */
export const purge = internalMutation({
  args: { orderId: v.id("orders") },
  handler: async (ctx, { orderId }) => {
    await ctx.db.delete("orders", orderId);
    return null;
  },
});

export const ofCustomer = query({
  args: { customerId: v.id("customers") },
  handler: async (ctx, { customerId }) => {
    const orders = await ctx.db.query("orders").collect();
    return orders
      .filter((order) => order.customerId === customerId)
      .map(({ number, cents, status }) => ({ number, cents, status }));
  },
});

/** What the first call with this reference has returned, if it is to be remembered. */
async function findEarlier(
  ctx: MutationCtx,
  customerId: Id<"customers">,
  clientRef: string,
  lines: Lines,
): Promise<Placed | null> {
  const since = Date.now() - MEMORY_MS;
  const placement = await ctx.db
    .query("placements")
    .withIndex("by_customer_and_ref", (q) =>
      q
        .eq("customerId", customerId)
        .eq("clientRef", clientRef)
        .gt("_creationTime", since),
    )
    .first();
  if (placement) {
    if (!areSame(placement.lines, lines)) {
      throw new ConvexError({ code: "REF_REUSED" });
    }
    return placement.result;
  }
  // Orders from before there were placements.
  const orders = await ctx.db
    .query("orders")
    .withIndex("by_customer_and_ref", (q) =>
      q
        .eq("customerId", customerId)
        .eq("clientRef", clientRef)
        .gt("_creationTime", since),
    )
    .take(5);
  const order = orders.find(({ copyOf }) => copyOf === undefined);
  if (!order) return null;
  return { orderId: order._id, number: order.number, cents: order.cents };
}

function areSame(a: Lines, b: Lines) {
  return (
    a.length === b.length &&
    a.every(
      ({ productId, quantity }, place) =>
        productId === b[place].productId && quantity === b[place].quantity,
    )
  );
}

async function takeFromStock(ctx: MutationCtx, lines: Lines) {
  let cents = 0;
  for (const { productId, quantity } of lines) {
    const product = await ctx.db.get("products", productId);
    if (product === null || product.stock < quantity) {
      throw new ConvexError({ code: "OUT_OF_STOCK" });
    }
    const stock = product.stock - quantity;
    await ctx.db.patch("products", productId, { stock });
    cents += product.cents * quantity;
  }
  return cents;
}

async function putBackIntoStock(ctx: MutationCtx, lines: Lines) {
  for (const { productId, quantity } of lines) {
    const product = await ctx.db.get("products", productId);
    if (product === null) continue;
    const stock = product.stock + quantity;
    await ctx.db.patch("products", productId, { stock });
  }
}

async function nextNumber(ctx: MutationCtx) {
  const last = await ctx.db
    .query("orders")
    .withIndex("by_number")
    .order("desc")
    .first();
  return (last?.number ?? 1000) + 1;
}

async function reward(
  ctx: MutationCtx,
  customerId: Id<"customers">,
  cents: number,
) {
  const customer = await ctx.db.get("customers", customerId);
  if (customer === null) throw new ConvexError({ code: "NO_SUCH_CUSTOMER" });
  const points = customer.points + Math.floor(cents / 100);
  await ctx.db.patch("customers", customerId, { points });
}
