import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { failure, ownEndpoint, requireOwner } from "./access";
import { plan, waitingFor } from "./deliveries";
import { endpointState } from "./schema";
import { isPattern } from "./types";

const MOST_ENDPOINTS = 5;

function newSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isUrl(text: string) {
  return URL.canParse(text) && new URL(text).protocol === "https:";
}

/** Deliveries that wait will never be made. */
export async function dropWaiting(ctx: MutationCtx, endpointId: Id<"endpoints">) {
  for (const delivery of await waitingFor(ctx, endpointId)) {
    await ctx.db.patch("deliveries", delivery._id, { status: "dropped" });
  }
}

export const register = mutation({
  args: { url: v.string(), types: v.array(v.string()) },
  returns: v.object({ endpointId: v.id("endpoints"), secret: v.string() }),
  handler: async (ctx, { url, types }) => {
    const owner = await requireOwner(ctx);
    if (!isUrl(url) || types.length === 0 || !types.every(isPattern)) throw failure("INVALID");
    const own = await ctx.db
      .query("endpoints")
      .withIndex("by_owner", (q) => q.eq("owner", owner))
      .collect();
    if (own.some((endpoint) => endpoint.url === url)) throw failure("REGISTERED");
    if (own.length >= MOST_ENDPOINTS) throw failure("TOO_MANY");
    const secret = newSecret();
    const endpoint = { owner, url, types, secret, state: "active" as const, failures: 0 };
    return { endpointId: await ctx.db.insert("endpoints", endpoint), secret };
  },
});

export const pause = mutation({
  args: { endpointId: v.id("endpoints") },
  returns: v.null(),
  handler: async (ctx, { endpointId }) => {
    const endpoint = await ownEndpoint(ctx, endpointId);
    if (endpoint.state !== "active") throw failure("WRONG_STATE");
    await ctx.db.patch("endpoints", endpointId, { state: "paused" });
    return null;
  },
});

export const resume = mutation({
  args: { endpointId: v.id("endpoints") },
  returns: v.null(),
  handler: async (ctx, { endpointId }) => {
    const endpoint = await ownEndpoint(ctx, endpointId);
    if (endpoint.state === "active") throw failure("WRONG_STATE");
    await ctx.db.patch("endpoints", endpointId, { state: "active", failures: 0 });
    for (const delivery of await waitingFor(ctx, endpointId)) await plan(ctx, delivery._id, Date.now());
    return null;
  },
});

export const rotate = mutation({
  args: { endpointId: v.id("endpoints") },
  returns: v.string(),
  handler: async (ctx, { endpointId }) => {
    await ownEndpoint(ctx, endpointId);
    const secret = newSecret();
    await ctx.db.patch("endpoints", endpointId, { secret });
    return secret;
  },
});

export const remove = mutation({
  args: { endpointId: v.id("endpoints") },
  returns: v.null(),
  handler: async (ctx, { endpointId }) => {
    await ownEndpoint(ctx, endpointId);
    await dropWaiting(ctx, endpointId);
    await ctx.db.delete("endpoints", endpointId);
    return null;
  },
});

export const list = query({
  args: {},
  returns: v.array(
    v.object({ endpointId: v.id("endpoints"), url: v.string(), types: v.array(v.string()), state: endpointState }),
  ),
  handler: async (ctx) => {
    const owner = await requireOwner(ctx);
    const own = await ctx.db
      .query("endpoints")
      .withIndex("by_owner", (q) => q.eq("owner", owner))
      .collect();
    return own.map(({ _id, url, types, state }) => ({ endpointId: _id, url, types, state }));
  },
});
