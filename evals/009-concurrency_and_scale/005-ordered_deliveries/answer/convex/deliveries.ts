import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const REQUEST_MS = 60_000;
const FIRST_WAIT_MS = 30_000;
const MOST_FAILURES = 5;
const request = { endpointId: v.id("endpoints"), request: v.number() };

export const publish = mutation({
  args: { endpoint: v.string(), events: v.array(v.string()) },
  handler: async (ctx, { endpoint, events }) => {
    const known = await findEndpoint(ctx, endpoint);
    const endpointId = known?._id ?? (await addEndpoint(ctx, endpoint));
    let published = known?.published ?? 0;
    for (const event of events) {
      await ctx.db.insert("events", { endpointId, position: published, event });
      published += 1;
    }
    await ctx.db.patch("endpoints", endpointId, { published });
    if (known === null || known.state === "idle") await send(ctx, endpointId);
    return null;
  },
});

export const resume = mutation({
  args: { endpoint: v.string() },
  handler: async (ctx, { endpoint }) => {
    const found = await findEndpoint(ctx, endpoint);
    if (found?.state !== "paused") return null;
    await ctx.db.patch("endpoints", found._id, { failures: 0 });
    await send(ctx, found._id);
    return null;
  },
});

export const status = query({
  args: { endpoint: v.string() },
  handler: async (ctx, { endpoint }) => {
    const found = await findEndpoint(ctx, endpoint);
    if (found === null) return { delivered: 0, waiting: 0, isPaused: false };
    return {
      delivered: found.delivered,
      waiting: found.published - found.delivered,
      isPaused: found.state === "paused",
    };
  },
});

export const post = internalAction({
  args: { ...request, url: v.string(), id: v.string(), event: v.string() },
  handler: async (ctx, { endpointId, request, url, id, event }) => {
    let isDelivered = false;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ id, event }),
      });
      isDelivered = response.ok;
    } catch {
      // No connection is a failure like any other.
    }
    await ctx.runMutation(internal.deliveries.report, {
      endpointId,
      request,
      isDelivered,
    });
  },
});

/** What became of a request. Only the first report about the current one counts. */
export const report = internalMutation({
  args: { ...request, isDelivered: v.boolean() },
  handler: async (ctx, { endpointId, request, isDelivered }) => {
    const endpoint = await ctx.db.get("endpoints", endpointId);
    if (endpoint?.state !== "sending" || endpoint.request !== request) return;
    if (isDelivered) {
      const delivered = endpoint.delivered + 1;
      await ctx.db.patch("endpoints", endpointId, { delivered, failures: 0 });
      await send(ctx, endpointId);
    } else {
      await waitOrPause(ctx, endpoint);
    }
  },
});

export const retry = internalMutation({
  args: { endpointId: v.id("endpoints") },
  handler: async (ctx, { endpointId }) => {
    const endpoint = await ctx.db.get("endpoints", endpointId);
    if (endpoint?.state === "waiting") await send(ctx, endpointId);
  },
});

/** Begins the request for the next event, if there is one. Nothing may be under way. */
async function send(ctx: MutationCtx, endpointId: Id<"endpoints">) {
  const endpoint = await ctx.db.get("endpoints", endpointId);
  if (endpoint === null) return;
  const next = await ctx.db
    .query("events")
    .withIndex("by_position", (q) =>
      q.eq("endpointId", endpointId).eq("position", endpoint.delivered),
    )
    .unique();
  if (next === null) {
    await ctx.db.patch("endpoints", endpointId, { state: "idle" });
    return;
  }
  const request = { endpointId, request: endpoint.request + 1 };
  await ctx.db.patch("endpoints", endpointId, {
    state: "sending",
    request: request.request,
  });
  await ctx.scheduler.runAfter(0, internal.deliveries.post, {
    ...request,
    url: endpoint.url,
    id: next._id,
    event: next.event,
  });
  await ctx.scheduler.runAfter(REQUEST_MS, internal.deliveries.report, {
    ...request,
    isDelivered: false,
  });
}

async function waitOrPause(ctx: MutationCtx, endpoint: Doc<"endpoints">) {
  const failures = endpoint.failures + 1;
  const isPaused = failures >= MOST_FAILURES;
  await ctx.db.patch("endpoints", endpoint._id, {
    failures,
    state: isPaused ? "paused" : "waiting",
  });
  if (isPaused) return;
  const delay = FIRST_WAIT_MS * 2 ** (failures - 1);
  await ctx.scheduler.runAfter(delay, internal.deliveries.retry, {
    endpointId: endpoint._id,
  });
}

async function addEndpoint(ctx: MutationCtx, url: string) {
  return await ctx.db.insert("endpoints", {
    url,
    state: "idle",
    published: 0,
    delivered: 0,
    request: 0,
    failures: 0,
  });
}

async function findEndpoint(ctx: QueryCtx, url: string) {
  return await ctx.db
    .query("endpoints")
    .withIndex("by_url", (q) => q.eq("url", url))
    .unique();
}
