import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  internalQuery,
  type MutationCtx,
} from "./_generated/server";

const args = { orderId: v.id("orders") };
const returns = v.string();

export const history = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }) => {
    const { customer } = await load(ctx, orderId);
    const orders = await ctx.db
      .query("orders")
      .withIndex("by_customer", (q) => q.eq("customer", customer))
      .collect();
    await note(ctx, orderId, "history", `order ${orders.length}`);
    return orders.length > 3 ? "regular" : "new";
  },
});

export const signals = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }) => {
    const { customer } = await load(ctx, orderId);
    const signals = await ctx.db
      .query("signals")
      .withIndex("by_customer", (q) => q.eq("customer", customer))
      .collect();
    for (const { _id, seen } of signals) {
      await ctx.db.patch("signals", _id, { seen: seen + 1 });
    }
    return `${signals.length} signals`;
  },
});

export const catalogue = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }): Promise<string> => {
    const { items } = await load(ctx, orderId);
    let count = 0;
    for (const kind of items) {
      await note(ctx, orderId, "catalogue", kind);
      count += await ctx.runQuery(internal.rules.countProducts, { kind });
    }
    return `${count} products`;
  },
});

export const countProducts = internalQuery({
  args: { kind: v.string() },
  returns: v.number(),
  handler: async (ctx, { kind }) => {
    const products = await ctx.db
      .query("products")
      .withIndex("by_kind", (q) => q.eq("kind", kind))
      .collect();
    return products.length;
  },
});

export const reminders = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }) => {
    const { items } = await load(ctx, orderId);
    for (const item of items) {
      await ctx.scheduler.runAfter(60_000, internal.rules.remind, {
        orderId,
        item,
      });
    }
    return "planned";
  },
});

export const remind = internalMutation({
  args: { orderId: v.id("orders"), item: v.string() },
  returns: v.null(),
  handler: async (ctx, { orderId, item }) => {
    await note(ctx, orderId, "reminders", item);
    return null;
  },
});

export const blocklist = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }) => {
    const { customer } = await load(ctx, orderId);
    await note(ctx, orderId, "blocklist", customer);
    const blocked = await ctx.db
      .query("blocked")
      .withIndex("by_customer", (q) => q.eq("customer", customer))
      .first();
    if (blocked !== null) throw new ConvexError({ code: "BLOCKED" });
    return "welcome";
  },
});

export const size = internalMutation({
  args,
  returns,
  handler: async (ctx, { orderId }) => {
    const { items } = await load(ctx, orderId);
    return items.length > 2 ? "large" : "small";
  },
});

async function load(
  ctx: MutationCtx,
  orderId: Id<"orders">,
): Promise<Doc<"orders">> {
  const order = await ctx.db.get("orders", orderId);
  if (order === null) throw new Error("No such order");
  return order;
}

async function note(
  ctx: MutationCtx,
  orderId: Id<"orders">,
  rule: string,
  text: string,
): Promise<void> {
  await ctx.db.insert("notes", { orderId, rule, text });
}
