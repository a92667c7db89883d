import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import {
  internalMutation,
  query,
  type MutationCtx,
} from "./_generated/server";

const KEY_MS = 24 * 60 * 60 * 1000;
const DEAD_MS = 55 * 1000;

export const setBank = internalMutation({
  args: { url: v.string() },
  handler: async (ctx, { url }) => {
    const before = await ctx.db.query("bank").first();
    if (before !== null) {
      await ctx.db.delete("bank", before._id);
    }
    await ctx.db.insert("bank", { url });
    return null;
  },
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const charges = await ctx.db.query("charges").collect();
    return charges.map(({ _id, amount, card, approved }) => ({
      chargeId: _id,
      amount,
      card,
      approved,
    }));
  },
});

type Beginning =
  | { next: "key in use" }
  | { next: "in progress" }
  | { next: "replay"; chargeId: Id<"charges">; approved: boolean }
  | { next: "ask"; requestId: Id<"requests">; attempt: number; url: string };

/** Decides what happens to a request, and reserves the key if the bank is to be asked. */
export const begin = internalMutation({
  args: { key: v.string(), amount: v.number(), card: v.string() },
  handler: async (ctx, args): Promise<Beginning> => {
    const request = await requestFor(ctx, args);
    if (request.amount !== args.amount || request.card !== args.card) {
      return { next: "key in use" };
    }
    if (request.chargeId !== null) {
      return { next: "replay", ...(await result(ctx, request.chargeId)) };
    }
    const now = Date.now();
    if (request.begun !== null && now - request.begun < DEAD_MS) {
      return { next: "in progress" };
    }
    const requestId = request._id;
    const attempt = request.attempt + 1;
    await ctx.db.patch("requests", requestId, { attempt, begun: now });
    const url = (await ctx.db.query("bank").first())?.url ?? "";
    return { next: "ask", requestId, attempt, url };
  },
});

async function requestFor(
  ctx: MutationCtx,
  args: { key: string; amount: number; card: string },
) {
  const known = await ctx.db
    .query("requests")
    .withIndex("by_key", (q) => q.eq("key", args.key))
    .order("desc")
    .first();
  const now = Date.now();
  if (known !== null && now - known.firstUsed < KEY_MS) {
    return known;
  }
  // The old one stays: somebody may still be waiting for the bank on its behalf.
  const fresh = { attempt: 0, begun: null, chargeId: null, firstUsed: now };
  const requestId = await ctx.db.insert("requests", { ...args, ...fresh });
  return { _id: requestId, ...args, ...fresh };
}

async function result(ctx: MutationCtx, chargeId: Id<"charges">) {
  const charge = await ctx.db.get("charges", chargeId);
  return { chargeId, approved: charge?.approved ?? false };
}

/** The first attempt that gets here stores the charge; others learn its result. */
export const succeed = internalMutation({
  args: { requestId: v.id("requests"), approved: v.boolean() },
  handler: async (ctx, { requestId, approved }) => {
    const request = await ctx.db.get("requests", requestId);
    if (request === null) {
      throw new Error("Requests are never deleted");
    }
    if (request.chargeId !== null) {
      return await result(ctx, request.chargeId);
    }
    const { amount, card } = request;
    const chargeId = await ctx.db.insert("charges", { amount, card, approved });
    await ctx.db.patch("requests", requestId, { chargeId });
    return { chargeId, approved };
  },
});

/** The key is free for the next attempt, unless that has begun already. */
export const fail = internalMutation({
  args: { requestId: v.id("requests"), attempt: v.number() },
  handler: async (ctx, { requestId, attempt }) => {
    const request = await ctx.db.get("requests", requestId);
    if (request?.attempt === attempt) {
      await ctx.db.patch("requests", requestId, { begun: null });
    }
    return null;
  },
});
