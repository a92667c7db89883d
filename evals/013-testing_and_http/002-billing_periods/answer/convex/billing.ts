import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server";
import { beginning, reminderTime } from "./periods";

const LEAST_OFFSET = -720;
const GREATEST_OFFSET = 840;
const TOLERANCE_MS = 60_000;

const named = { subscriptionId: v.id("subscriptions") };

function isPrice(cents: number): boolean {
  return Number.isInteger(cents) && cents > 0;
}

export const subscribe = mutation({
  args: { cents: v.number(), offset: v.number(), start: v.number() },
  handler: async (ctx, { cents, offset, start }) => {
    const isOffset =
      Number.isInteger(offset) &&
      offset >= LEAST_OFFSET &&
      offset <= GREATEST_OFFSET;
    if (!isPrice(cents) || !isOffset || start > Date.now() + TOLERANCE_MS) {
      throw new ConvexError({ code: "INVALID" });
    }
    const fields = { cents, offset, start, periods: 0 };
    const id = await ctx.db.insert("subscriptions", {
      ...fields,
      status: "active",
    });
    await beginPeriods(ctx, id);
    return id;
  },
});

/** Writes the invoices of all periods that have begun, and plans what comes next. */
async function beginPeriods(
  ctx: MutationCtx,
  subscriptionId: Id<"subscriptions">,
): Promise<void> {
  const subscription = await ctx.db.get("subscriptions", subscriptionId);
  if (subscription === null) {
    return;
  }
  const now = Date.now();
  let period = subscription.periods;
  while (period === 0 || beginning(subscription, period) <= now) {
    await ctx.db.insert("invoices", {
      subscriptionId,
      from: beginning(subscription, period),
      to: beginning(subscription, period + 1),
      cents: subscription.cents,
    });
    period += 1;
  }
  await ctx.db.patch("subscriptions", subscriptionId, { periods: period });
  const next = { subscriptionId, period };
  const end = beginning(subscription, period);
  await ctx.scheduler.runAt(end, internal.billing.turn, next);
  const at = reminderTime(subscription, period - 1);
  if (at > now) {
    const { remind } = internal.billing;
    await ctx.scheduler.runAt(at, remind, { subscriptionId, at });
  }
}

/** At the end of a period. */
export const turn = internalMutation({
  args: { ...named, period: v.number() },
  handler: async (ctx, { subscriptionId, period }) => {
    const subscription = await ctx.db.get("subscriptions", subscriptionId);
    if (subscription === null || subscription.periods !== period) {
      return null;
    }
    if (subscription.status === "active") {
      await beginPeriods(ctx, subscriptionId);
    } else {
      await ctx.db.patch("subscriptions", subscriptionId, { status: "ended" });
    }
    return null;
  },
});

export const remind = internalMutation({
  args: { ...named, at: v.number() },
  handler: async (ctx, { subscriptionId, at }) => {
    const subscription = await ctx.db.get("subscriptions", subscriptionId);
    if (subscription?.status === "active") {
      const { cents } = subscription;
      await ctx.db.insert("reminders", { subscriptionId, at, cents });
    }
    return null;
  },
});

export const setPrice = mutation({
  args: { ...named, cents: v.number() },
  handler: async (ctx, { subscriptionId, cents }) => {
    if (!isPrice(cents)) {
      throw new ConvexError({ code: "INVALID" });
    }
    await changeRunning(ctx, subscriptionId, { cents });
    return null;
  },
});

export const cancel = mutation({
  args: named,
  handler: async (ctx, { subscriptionId }) => {
    await changeRunning(ctx, subscriptionId, { status: "ending" });
    return null;
  },
});

export const resume = mutation({
  args: named,
  handler: async (ctx, { subscriptionId }) => {
    await changeRunning(ctx, subscriptionId, { status: "active" });
    return null;
  },
});

async function changeRunning(
  ctx: MutationCtx,
  subscriptionId: Id<"subscriptions">,
  changes: Partial<Pick<Doc<"subscriptions">, "cents" | "status">>,
): Promise<void> {
  const subscription = await ctx.db.get("subscriptions", subscriptionId);
  if (subscription === null || subscription.status === "ended") {
    throw new ConvexError({ code: "ENDED" });
  }
  await ctx.db.patch("subscriptions", subscriptionId, changes);
}

export const status = query({
  args: named,
  handler: async (ctx, { subscriptionId }) =>
    (await ctx.db.get("subscriptions", subscriptionId))?.status ?? "ended",
});

export const invoices = query({
  args: named,
  handler: async (ctx, { subscriptionId }) => {
    const found = await ctx.db
      .query("invoices")
      .withIndex("by_subscription", (q) =>
        q.eq("subscriptionId", subscriptionId),
      )
      .collect();
    return found.map(({ from, to, cents }) => ({ from, to, cents }));
  },
});

export const reminders = query({
  args: named,
  handler: async (ctx, { subscriptionId }) => {
    const found = await ctx.db
      .query("reminders")
      .withIndex("by_subscription", (q) =>
        q.eq("subscriptionId", subscriptionId),
      )
      .collect();
    return found.map(({ at, cents }) => ({ at, cents }));
  },
});
