import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { orders } from "./machines";
import schema from "./schema";

const order = schema.doc("orders");

async function load(ctx: QueryCtx, id: Id<"orders">) {
  const found = await ctx.db.get("orders", id);
  if (found === null) throw new Error("No such order");
  return found;
}

export const get = query({
  args: { id: v.id("orders") },
  returns: order,
  handler: async (ctx, { id }) => await load(ctx, id),
});

export const create = mutation({
  args: {
    customer: v.string(),
    items: v.array(v.string()),
    note: v.optional(v.string()),
  },
  returns: order,
  handler: async (ctx, args) => await orders.create(ctx, args),
});

export const edit = mutation({
  args: {
    id: v.id("orders"),
    customer: v.optional(v.string()),
    items: v.optional(v.array(v.string())),
    note: v.optional(v.string()),
  },
  returns: order,
  handler: async (ctx, { id, customer, items, note }) =>
    await orders.transition(ctx, await load(ctx, id), "edit", {
      customer,
      items,
      note,
    }),
});

export const place = mutation({
  args: { id: v.id("orders"), at: v.number() },
  returns: order,
  handler: async (ctx, { id, at }) => {
    const draft = await load(ctx, id);
    return await orders.transition(ctx, draft, "place", { placedAt: at });
  },
});

export const pay = mutation({
  args: { id: v.id("orders"), cents: v.number() },
  returns: order,
  handler: async (ctx, { id, cents }) =>
    await orders.transition(ctx, await load(ctx, id), "pay", {
      payment: { method: "card", cents },
    }),
});

export const ship = mutation({
  args: {
    id: v.id("orders"),
    tracking: v.string(),
    carrier: v.optional(v.string()),
  },
  returns: order,
  handler: async (ctx, { id, ...data }) =>
    await orders.transition(ctx, await load(ctx, id), "ship", data),
});

export const takeBack = mutation({
  args: { id: v.id("orders"), reason: v.string() },
  returns: order,
  handler: async (ctx, { id, reason }) =>
    await orders.transition(ctx, await load(ctx, id), "takeBack", { reason }),
});

export const cancel = mutation({
  args: { id: v.id("orders") },
  returns: order,
  handler: async (ctx, { id }) =>
    await orders.transition(ctx, await load(ctx, id), "cancel"),
});

export const reopen = mutation({
  args: { id: v.id("orders"), items: v.array(v.string()) },
  returns: order,
  handler: async (ctx, { id, items }) =>
    await orders.transition(ctx, await load(ctx, id), "reopen", { items }),
});

/** From a draft to a paid order in one transaction. */
export const checkOut = mutation({
  args: { id: v.id("orders"), at: v.number(), cents: v.number() },
  returns: v.object({ state: v.literal("paid"), cents: v.number() }),
  handler: async (ctx, { id, at, cents }) => {
    const draft = await load(ctx, id);
    const placed = await orders.transition(ctx, draft, "place", {
      placedAt: at,
    });
    const paid = await orders.transition(ctx, placed, "pay", {
      payment: { method: "transfer", cents },
    });
    return { state: paid.state, cents: paid.payment.cents };
  },
});

/** Cancels an order as it was before somebody else has changed it. */
export const cancelTooLate = mutation({
  args: {
    id: v.id("orders"),
    meanwhile: v.union(
      v.literal("placed"),
      v.literal("edited"),
      v.literal("cancelled"),
      v.literal("deleted"),
    ),
  },
  returns: order,
  handler: async (ctx, { id, meanwhile }) => {
    const before = await load(ctx, id);
    if (meanwhile === "deleted") await ctx.db.delete("orders", id);
    else if (meanwhile === "placed") {
      await orders.transition(ctx, before, "place", { placedAt: 1 });
    } else if (meanwhile === "cancelled") {
      await orders.transition(ctx, before, "cancel");
    } else await orders.transition(ctx, before, "edit", { note: "edited" });
    return await orders.transition(ctx, before, "cancel");
  },
});

export const available = query({
  args: { id: v.id("orders") },
  returns: v.array(v.string()),
  handler: async (ctx, { id }) => {
    const found = await load(ctx, id);
    const names = [
      "edit",
      "place",
      "pay",
      "ship",
      "takeBack",
      "cancel",
      "refuse",
      "reopen",
    ] as const;
    return names.filter((name) => orders.can(found, name));
  },
});

export const describe = query({
  args: { id: v.id("orders") },
  returns: v.string(),
  handler: async (ctx, { id }) => {
    const found = await load(ctx, id);
    if (orders.is(found, "draft", "placed")) {
      return `${found.items.length} items, not paid`;
    }
    return orders.match(found, {
      paid: ({ payment }) => `paid ${payment.cents}`,
      shipped: ({ tracking }) => `shipped as ${tracking}`,
      returned: ({ reason }) => `returned: ${reason}`,
      cancelled: ({ reason }) => `cancelled: ${reason ?? "no reason"}`,
    });
  },
});

export const history = query({
  args: { id: v.id("orders") },
  handler: async (ctx, { id }) => {
    const entries = await orders.history(ctx, id);
    return entries.map(({ document, transition, from, to, at }) => ({
      document,
      transition,
      from,
      to,
      at,
    }));
  },
});
