import { ConvexError, v, type Infer } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { currency } from "./schema";

const MINUTE_MS = 60 * 1000;

const wish = v.object({
  item: v.string(),
  costs: v.array(v.object({ currency, amount: v.number() })),
});
const purchase = { user: v.string(), basket: v.array(wish) };
const account = { user: v.string(), currency };

type Reason = "SOLD_OUT" | "TOO_EXPENSIVE";

export const grant = mutation({
  args: { ...account, amount: v.number(), key: v.string() },
  handler: async (ctx, { user, currency, amount, key }): Promise<number> => {
    const { deposit } = components[currency].accounts;
    const args = { user, amount, key, memo: "grant" };
    return await ctx.runMutation(deposit, args);
  },
});

export const restock = mutation({
  args: { item: v.string(), count: v.number() },
  handler: async (ctx, { item, count }) => {
    return (await changeShelf(ctx, item, { inStock: count })).inStock;
  },
});

export const checkout = mutation({
  args: purchase,
  handler: async (ctx, { user, basket }) => {
    const bought: string[] = [];
    const refused: { item: string; reason: Reason }[] = [];
    for (const { item, costs } of basket) {
      try {
        await ctx.runMutation(internal.shop.buy, { user, item, costs });
        bought.push(item);
      } catch (error) {
        refused.push({ item, reason: reasonOf(error) });
      }
    }
    return { bought, refused };
  },
});

export const checkoutAll = mutation({
  args: purchase,
  handler: async (ctx, { user, basket }) => {
    for (const { item, costs } of basket) {
      await buyOne(ctx, user, item, costs);
    }
    return null;
  },
});

/** A transaction of its own within another, so that it can fail alone. */
export const buy = internalMutation({
  args: { user: v.string(), ...wish.fields },
  handler: async (ctx, { user, item, costs }) => {
    await buyOne(ctx, user, item, costs);
    return null;
  },
});

export const reserve = mutation({
  args: {
    ...account,
    item: v.string(),
    amount: v.number(),
    minutes: v.number(),
  },
  handler: async (ctx, { user, item, currency, amount, minutes }) => {
    await takeFromShelf(ctx, item);
    const { hold: startHold } = components[currency].accounts;
    const hold: string = await paying(item, () =>
      ctx.runMutation(startHold, { user, amount }),
    );
    const id = await ctx.db.insert("reservations", { item, currency, hold });
    const delay = minutes * MINUTE_MS;
    await ctx.scheduler.runAfter(delay, internal.shop.endReservation, { id });
    return id;
  },
});

export const settle = mutation({
  args: { id: v.string() },
  handler: async (ctx, args) => {
    const id = ctx.db.normalizeId("reservations", args.id);
    const found = id === null ? null : await ctx.db.get("reservations", id);
    if (found === null) {
      throw new ConvexError({ code: "NOT_RESERVED" });
    }
    const { item, currency, hold } = found;
    const { capture } = components[currency].accounts;
    await ctx.runMutation(capture, { hold, memo: item });
    await changeShelf(ctx, item, { sold: 1 });
    await ctx.db.delete("reservations", found._id);
    return null;
  },
});

export const endReservation = internalMutation({
  args: { id: v.id("reservations") },
  handler: async (ctx, { id }) => {
    const found = await ctx.db.get("reservations", id);
    if (found === null) {
      return;
    }
    const { item, currency, hold } = found;
    await ctx.runMutation(components[currency].accounts.release, { hold });
    await changeShelf(ctx, item, { inStock: 1 });
    await ctx.db.delete("reservations", id);
  },
});

export const balance = query({
  args: account,
  handler: async (
    ctx,
    { user, currency },
  ): Promise<{ available: number; held: number }> => {
    return await ctx.runQuery(components[currency].accounts.balance, { user });
  },
});

export const history = query({
  args: { ...account, count: v.number(), before: v.optional(v.number()) },
  handler: async (
    ctx,
    { user, currency, count, before = Infinity },
  ): Promise<
    { number: number; amount: number; memo: string; owned: number }[]
  > => {
    const { history: entries } = components[currency].accounts;
    return await ctx.runQuery(entries, { user, count, before });
  },
});

export const shelf = query({
  args: { item: v.string() },
  handler: async (ctx, { item }) => {
    const found = await findItem(ctx, item);
    return { inStock: found?.inStock ?? 0, sold: found?.sold ?? 0 };
  },
});

async function buyOne(
  ctx: MutationCtx,
  user: string,
  item: string,
  costs: Infer<typeof wish>["costs"],
): Promise<void> {
  await takeFromShelf(ctx, item);
  for (const { currency, amount } of costs) {
    const { charge } = components[currency].accounts;
    await paying(item, () =>
      ctx.runMutation(charge, { user, amount, memo: item }),
    );
  }
  await changeShelf(ctx, item, { sold: 1 });
}

async function takeFromShelf(ctx: MutationCtx, item: string): Promise<void> {
  const { inStock } = await changeShelf(ctx, item, { inStock: -1 });
  if (inStock < 0) {
    throw new ConvexError({ code: "SOLD_OUT", item });
  }
}

/** Says in the words of the shop what the wallet refuses. */
async function paying<T>(item: string, pay: () => Promise<T>): Promise<T> {
  try {
    return await pay();
  } catch (error) {
    if (codeOf(error) === "INSUFFICIENT") {
      throw new ConvexError({ code: "TOO_EXPENSIVE", item });
    }
    throw error;
  }
}

function reasonOf(error: unknown): Reason {
  const code = codeOf(error);
  if (code === "SOLD_OUT" || code === "TOO_EXPENSIVE") {
    return code;
  }
  throw error;
}

function codeOf(error: unknown): string | null {
  if (error instanceof ConvexError) {
    const { code } = error.data as { code: string };
    return code;
  }
  return null;
}

async function findItem(
  ctx: QueryCtx,
  item: string,
): Promise<Doc<"items"> | null> {
  return await ctx.db
    .query("items")
    .withIndex("by_item", (q) => q.eq("item", item))
    .unique();
}

async function changeShelf(
  ctx: MutationCtx,
  item: string,
  change: { inStock?: number; sold?: number },
): Promise<{ inStock: number; sold: number }> {
  const found = await findItem(ctx, item);
  const counts = {
    inStock: (found?.inStock ?? 0) + (change.inStock ?? 0),
    sold: (found?.sold ?? 0) + (change.sold ?? 0),
  };
  if (found === null) {
    await ctx.db.insert("items", { item, ...counts });
  } else {
    await ctx.db.patch("items", found._id, counts);
  }
  return counts;
}
