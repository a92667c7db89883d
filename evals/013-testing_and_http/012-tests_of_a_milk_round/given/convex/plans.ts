import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireCustomer } from "./access";
import { changeableAccount } from "./accounts";
import { addDays, isClosed, isDate, lastClosed, weekdayOf } from "./calendar";
import { requireProduct } from "./products";

const MOST_PIECES = 99;
const MOST_DAYS_OF_PAUSE = 28;

function isQuantity(quantity: number) {
  return Number.isInteger(quantity) && quantity >= 0 && quantity <= MOST_PIECES;
}

async function pausesOf(ctx: QueryCtx, accountId: Id<"accounts">) {
  return await ctx.db
    .query("pauses")
    .withIndex("by_account", (q) => q.eq("accountId", accountId))
    .collect();
}

async function changeOn(ctx: QueryCtx, accountId: Id<"accounts">, productId: Id<"products">, date: string) {
  return await ctx.db
    .query("changes")
    .withIndex("by_account_and_product", (q) =>
      q.eq("accountId", accountId).eq("productId", productId).eq("date", date),
    )
    .unique();
}

async function weeklyOn(ctx: QueryCtx, accountId: Id<"accounts">, productId: Id<"products">, date: string) {
  const plan = await ctx.db
    .query("plans")
    .withIndex("by_account_and_product", (q) =>
      q.eq("accountId", accountId).eq("productId", productId).lte("from", date),
    )
    .order("desc")
    .first();
  return plan?.quantities[weekdayOf(date)] ?? 0;
}

/** What a customer is to get on a date, as far as one knows now, in the order of the products' names. */
export async function plannedFor(ctx: QueryCtx, account: Doc<"accounts">, date: string) {
  if (account.suspended || (account.lastDate !== null && date > account.lastDate)) return [];
  const pauses = await pausesOf(ctx, account._id);
  if (pauses.some(({ from, to }) => from <= date && date <= to)) return [];
  const lines = [];
  for (const { _id: productId, name } of await ctx.db.query("products").withIndex("by_name").collect()) {
    const change = await changeOn(ctx, account._id, productId, date);
    const quantity = change?.quantity ?? (await weeklyOn(ctx, account._id, productId, date));
    if (quantity > 0) lines.push({ productId, name, quantity });
  }
  return lines;
}

/** A plan counts from the first date that is not closed; earlier plans are kept for the dates before. */
async function storePlan(ctx: MutationCtx, accountId: Id<"accounts">, productId: Id<"products">, quantities: number[]) {
  const from = addDays(lastClosed(), 1);
  const known = await ctx.db
    .query("plans")
    .withIndex("by_account_and_product", (q) =>
      q.eq("accountId", accountId).eq("productId", productId).eq("from", from),
    )
    .unique();
  if (known === null) await ctx.db.insert("plans", { accountId, productId, from, quantities });
  else await ctx.db.patch("plans", known._id, { quantities });
}

export const set = mutation({
  args: { productId: v.id("products"), quantities: v.array(v.number()) },
  returns: v.null(),
  handler: async (ctx, { productId, quantities }) => {
    await requireCustomer(ctx);
    await requireProduct(ctx, productId);
    if (quantities.length !== 7 || !quantities.every(isQuantity)) throw failure("INVALID");
    const account = await changeableAccount(ctx);
    await storePlan(ctx, account._id, productId, quantities);
    return null;
  },
});

export const change = mutation({
  args: { productId: v.id("products"), date: v.string(), quantity: v.union(v.number(), v.null()) },
  returns: v.null(),
  handler: async (ctx, { productId, date, quantity }) => {
    await requireCustomer(ctx);
    await requireProduct(ctx, productId);
    if (!isDate(date) || (quantity !== null && !isQuantity(quantity))) throw failure("INVALID");
    const { _id: accountId } = await changeableAccount(ctx);
    if (isClosed(date)) throw failure("CLOSED");
    const known = await changeOn(ctx, accountId, productId, date);
    if (known !== null) await ctx.db.delete("changes", known._id);
    if (quantity !== null) await ctx.db.insert("changes", { accountId, productId, date, quantity });
    return null;
  },
});

export const pause = mutation({
  args: { from: v.string(), to: v.string() },
  returns: v.null(),
  handler: async (ctx, { from, to }) => {
    await requireCustomer(ctx);
    if (!isDate(from) || !isDate(to) || to < from) throw failure("INVALID");
    const { _id: accountId } = await changeableAccount(ctx);
    if (isClosed(from)) throw failure("CLOSED");
    if (to >= addDays(from, MOST_DAYS_OF_PAUSE)) throw failure("TOO_LONG");
    const pauses = await pausesOf(ctx, accountId);
    if (pauses.some((other) => from <= other.to && other.from <= to)) throw failure("OVERLAP");
    await ctx.db.insert("pauses", { accountId, from, to });
    return null;
  },
});

export const endPause = mutation({
  args: { date: v.string() },
  returns: v.null(),
  handler: async (ctx, { date }) => {
    await requireCustomer(ctx);
    if (!isDate(date)) throw failure("INVALID");
    const { _id: accountId } = await changeableAccount(ctx);
    if (isClosed(date)) throw failure("CLOSED");
    const paused = (await pausesOf(ctx, accountId)).find(({ from, to }) => from <= date && date <= to);
    if (paused === undefined) throw failure("NOT_PAUSED");
    if (paused.from === date) await ctx.db.delete("pauses", paused._id);
    else await ctx.db.patch("pauses", paused._id, { to: addDays(date, -1) });
    return null;
  },
});

export const cancel = mutation({
  args: { date: v.string() },
  returns: v.null(),
  handler: async (ctx, { date }) => {
    await requireCustomer(ctx);
    if (!isDate(date)) throw failure("INVALID");
    const { _id: accountId } = await changeableAccount(ctx);
    if (isClosed(addDays(date, 1))) throw failure("CLOSED");
    await ctx.db.patch("accounts", accountId, { lastDate: date });
    return null;
  },
});
