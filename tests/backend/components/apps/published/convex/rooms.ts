import { Presence } from "@convex-dev/presence";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const presence = new Presence(components.presence);

export const heartbeat = mutation({
  args: { room: v.string(), user: v.string(), session: v.string(), interval: v.number() },
  handler: async (ctx, { room, user, session, interval }) =>
    await presence.heartbeat(ctx, room, user, session, interval),
});

export const list = query({
  args: { roomToken: v.string() },
  handler: async (ctx, { roomToken }) =>
    (await presence.list(ctx, roomToken)).map(({ userId, online }) => [userId, online] as const),
});

export const disconnect = mutation({
  args: { sessionToken: v.string() },
  handler: async (ctx, { sessionToken }) => await presence.disconnect(ctx, sessionToken),
});
