import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, ownEndpoint, requireOwner } from "./access";
import { dropWaiting } from "./endpoints";
import { deliveryStatus } from "./schema";
import { signatureOf } from "./signature";

const MINUTE = 60 * 1000;
const PAUSES = [MINUTE, 5 * MINUTE, 30 * MINUTE];
const LONGEST_PAUSE = 60 * MINUTE;
const MOST_FAILURES = 3;
const MOST_LISTED = 50;

export async function waitingFor(ctx: QueryCtx, endpointId: Id<"endpoints">) {
  const deliveries = await ctx.db
    .query("deliveries")
    .withIndex("by_endpoint", (q) => q.eq("endpointId", endpointId))
    .collect();
  return deliveries.filter(({ status }) => status === "waiting");
}

/** The next attempt will be made at this time, instead of any that was planned before. */
export async function plan(ctx: MutationCtx, deliveryId: Id<"deliveries">, nextAt: number) {
  const delivery = await ctx.db.get("deliveries", deliveryId);
  const round = (delivery?.round ?? 0) + 1;
  await ctx.db.patch("deliveries", deliveryId, { nextAt, round });
  await ctx.scheduler.runAt(nextAt, internal.deliveries.attempt, { deliveryId, round });
}

/** What to send, unless the attempt was put off or is not wanted any more. */
export const prepare = internalQuery({
  args: { deliveryId: v.id("deliveries"), round: v.number() },
  handler: async (ctx, { deliveryId, round }) => {
    const delivery = await ctx.db.get("deliveries", deliveryId);
    if (delivery === null || delivery.status !== "waiting" || delivery.round !== round) return null;
    const endpoint = await ctx.db.get("endpoints", delivery.endpointId);
    const event = await ctx.db.get("events", delivery.eventId);
    if (endpoint === null || endpoint.state !== "active" || event === null) return null;
    const body = JSON.stringify({ id: event._id, type: event.type, payload: event.payload, at: event.at });
    return { url: endpoint.url, secret: endpoint.secret, attempt: delivery.attempts + 1, body };
  },
});

export const attempt = internalAction({
  args: { deliveryId: v.id("deliveries"), round: v.number() },
  returns: v.null(),
  handler: async (ctx, { deliveryId, round }) => {
    const request = await ctx.runQuery(internal.deliveries.prepare, { deliveryId, round });
    if (request === null) return null;
    const headers = {
      "Content-Type": "application/json",
      "X-Delivery": deliveryId,
      "X-Attempt": String(request.attempt),
      "X-Signature": await signatureOf(request.secret, request.body),
    };
    let status: number | null = null;
    let retryAfter: number | null = null;
    try {
      const response = await fetch(request.url, { method: "POST", headers, body: request.body });
      status = response.status;
      const seconds = Number(response.headers.get("Retry-After"));
      if (status === 429 && seconds > 0) retryAfter = seconds * 1000;
    } catch {
      // Nobody answers: that is a failed attempt, too.
    }
    await ctx.runMutation(internal.deliveries.record, { deliveryId, status, retryAfter });
    return null;
  },
});

export const record = internalMutation({
  args: {
    deliveryId: v.id("deliveries"),
    status: v.union(v.number(), v.null()),
    retryAfter: v.union(v.number(), v.null()),
  },
  returns: v.null(),
  handler: async (ctx, { deliveryId, status, retryAfter }) => {
    const delivery = await ctx.db.get("deliveries", deliveryId);
    if (delivery === null || delivery.status !== "waiting") return null;
    const attempts = delivery.attempts + 1;
    await ctx.db.patch("deliveries", deliveryId, { attempts, lastStatus: status });
    const endpoint = await ctx.db.get("endpoints", delivery.endpointId);
    if (endpoint === null) return null;
    if (status !== null && status >= 200 && status < 300) {
      await ctx.db.patch("deliveries", deliveryId, { status: "delivered" });
      await ctx.db.patch("endpoints", endpoint._id, { failures: 0 });
      return null;
    }
    const isGone = status === 410;
    if (!isGone && attempts <= PAUSES.length) {
      const pause = retryAfter === null ? PAUSES[attempts - 1] : Math.min(retryAfter, LONGEST_PAUSE);
      await plan(ctx, deliveryId, Date.now() + pause);
      return null;
    }
    await ctx.db.patch("deliveries", deliveryId, { status: "failed" });
    const failures = endpoint.failures + 1;
    await ctx.db.patch("endpoints", endpoint._id, { failures });
    if (isGone || failures >= MOST_FAILURES) {
      await ctx.db.patch("endpoints", endpoint._id, { state: "disabled" });
      await dropWaiting(ctx, endpoint._id);
    }
    return null;
  },
});

export const retry = mutation({
  args: { deliveryId: v.id("deliveries") },
  returns: v.null(),
  handler: async (ctx, { deliveryId }) => {
    await requireOwner(ctx);
    const delivery = await ctx.db.get("deliveries", deliveryId);
    if (delivery === null) throw failure("NOT_FOUND");
    const endpoint = await ownEndpoint(ctx, delivery.endpointId);
    if (delivery.status !== "failed") throw failure("WRONG_STATUS");
    if (endpoint.state === "disabled") throw failure("DISABLED");
    await ctx.db.patch("deliveries", deliveryId, { status: "waiting", attempts: 0 });
    await plan(ctx, deliveryId, Date.now());
    return null;
  },
});

export const history = query({
  args: { endpointId: v.id("endpoints"), count: v.number() },
  returns: v.array(
    v.object({
      deliveryId: v.id("deliveries"),
      type: v.string(),
      status: deliveryStatus,
      attempts: v.number(),
      lastStatus: v.union(v.number(), v.null()),
      nextAt: v.union(v.number(), v.null()),
    }),
  ),
  handler: async (ctx, { endpointId, count }) => {
    await ownEndpoint(ctx, endpointId);
    if (!Number.isInteger(count) || count < 1 || count > MOST_LISTED) throw failure("INVALID");
    const deliveries = await ctx.db
      .query("deliveries")
      .withIndex("by_endpoint", (q) => q.eq("endpointId", endpointId))
      .order("desc")
      .take(count);
    return await Promise.all(
      deliveries.map(async ({ _id, eventId, status, attempts, lastStatus, nextAt }) => {
        const event = await ctx.db.get("events", eventId);
        const isWaiting = status === "waiting";
        return {
          deliveryId: _id,
          type: event?.type ?? "",
          status,
          attempts,
          lastStatus,
          nextAt: isWaiting ? nextAt : null,
        };
      }),
    );
  },
});
