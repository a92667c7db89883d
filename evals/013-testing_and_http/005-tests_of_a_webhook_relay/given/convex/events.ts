import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { failure, requireOwner } from "./access";
import { plan } from "./deliveries";
import { isType, matches } from "./types";

const DAY = 24 * 60 * 60 * 1000;
const MOST_CHARACTERS = 1000;

const event = { type: v.string(), payload: v.string(), key: v.optional(v.string()) };
const published = v.object({ eventId: v.id("events"), deliveries: v.number(), isNew: v.boolean() });

async function publishAs(ctx: MutationCtx, owner: string, type: string, payload: string, key?: string) {
  if (!isType(type) || payload.length > MOST_CHARACTERS) throw failure("INVALID");
  const at = Date.now();
  if (key !== undefined) {
    const known = await ctx.db
      .query("events")
      .withIndex("by_owner_and_key", (q) => q.eq("owner", owner).eq("key", key).gt("at", at - DAY))
      .first();
    if (known !== null) return { eventId: known._id, deliveries: known.deliveries, isNew: false };
  }
  const endpoints = await ctx.db
    .query("endpoints")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .collect();
  const wanted = endpoints.filter(
    ({ state, types }) => state !== "disabled" && types.some((pattern) => matches(pattern, type)),
  );
  const eventId = await ctx.db.insert("events", { owner, type, payload, key, at, deliveries: wanted.length });
  for (const { _id: endpointId } of wanted) {
    const state = { status: "waiting" as const, attempts: 0, lastStatus: null, nextAt: at, round: 0 };
    await plan(ctx, await ctx.db.insert("deliveries", { endpointId, eventId, ...state }), at);
  }
  return { eventId, deliveries: wanted.length, isNew: true };
}

export const publish = mutation({
  args: event,
  returns: published,
  handler: async (ctx, { type, payload, key }) => {
    return await publishAs(ctx, await requireOwner(ctx), type, payload, key);
  },
});

export const publishFor = internalMutation({
  args: { owner: v.string(), ...event },
  returns: published,
  handler: async (ctx, { owner, type, payload, key }) => await publishAs(ctx, owner, type, payload, key),
});
