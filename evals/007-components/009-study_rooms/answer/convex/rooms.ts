import { Presence } from "@convex-dev/presence";
import { ConvexError, v } from "convex/values";
import { components } from "./_generated/api";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const presence = new Presence(components.presence);

/** People are away after 2.5 times as long. */
const INTERVAL = 20_000;
const MOST = 300;

export const open = mutation({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    const host = await caller(ctx);
    if ((await find(ctx, room)) !== null) {
      throw new ConvexError({ code: "TAKEN" });
    }
    await ctx.db.insert("rooms", { room, host });
    return null;
  },
});

export const beat = mutation({
  args: { room: v.string(), tab: v.string() },
  handler: async (ctx, { room, tab }) => {
    const user = await caller(ctx);
    await get(ctx, room);
    // A session of the component belongs to one user in one room.
    const session = JSON.stringify([room, user, tab]);
    return await presence.heartbeat(ctx, room, user, session, INTERVAL);
  },
});

export const people = query({
  args: { roomToken: v.string() },
  handler: async (ctx, { roomToken }) => {
    const all = await presence.list(ctx, roomToken, MOST);
    return all.map(({ userId, online, lastDisconnected, data }) => ({
      user: userId,
      online,
      awaySince: online ? null : lastDisconnected,
      mood: typeof data === "string" ? data : null,
    }));
  },
});

export const setMood = mutation({
  args: { room: v.string(), mood: v.union(v.string(), v.null()) },
  handler: async (ctx, { room, mood }) => {
    const user = await caller(ctx);
    await get(ctx, room);
    const known = await presence.listUser(ctx, user, false, MOST);
    if (!known.some(({ roomId }) => roomId === room)) {
      throw new ConvexError({ code: "NOT_IN_ROOM" });
    }
    await presence.updateRoomUser(ctx, room, user, mood ?? undefined);
    return null;
  },
});

export const leave = mutation({
  args: { sessionToken: v.string() },
  handler: async (ctx, { sessionToken }) => {
    await presence.disconnect(ctx, sessionToken);
    return null;
  },
});

export const roomsOf = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const rooms = await presence.listUser(ctx, user, true, MOST);
    return rooms.map(({ roomId }) => roomId).sort();
  },
});

export const dismiss = mutation({
  args: { room: v.string(), user: v.string() },
  handler: async (ctx, { room, user }) => {
    await getHosted(ctx, room);
    await presence.removeRoomUser(ctx, room, user);
    return null;
  },
});

export const close = mutation({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    const { _id } = await getHosted(ctx, room);
    await presence.removeRoom(ctx, room);
    await ctx.db.delete("rooms", _id);
    return null;
  },
});

async function caller(ctx: QueryCtx | MutationCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new ConvexError({ code: "SIGNED_OUT" });
  }
  return identity.subject;
}

async function find(ctx: QueryCtx, room: string) {
  return await ctx.db
    .query("rooms")
    .withIndex("by_room", (q) => q.eq("room", room))
    .unique();
}

async function get(ctx: QueryCtx, room: string) {
  const known = await find(ctx, room);
  if (known === null) {
    throw new ConvexError({ code: "NO_ROOM" });
  }
  return known;
}

async function getHosted(ctx: MutationCtx, room: string) {
  const user = await caller(ctx);
  const known = await get(ctx, room);
  if (known.host !== user) {
    throw new ConvexError({ code: "NOT_HOST" });
  }
  return known;
}
