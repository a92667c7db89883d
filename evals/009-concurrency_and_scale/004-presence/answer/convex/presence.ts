import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const ONLINE_MS = 30_000;
const member = { room: v.string(), user: v.string() };

export const heartbeat = mutation({
  args: member,
  handler: async (ctx, { room, user }) => {
    const heartbeatId = await recordHeartbeat(ctx, room, user);
    if ((await findMember(ctx, room, user)) !== null) return null;
    await ctx.db.insert("members", { room, user });
    await countOnline(ctx, room, 1);
    await scheduleCheck(ctx, heartbeatId, Date.now() + ONLINE_MS);
    return null;
  },
});

export const leave = mutation({
  args: member,
  handler: async (ctx, { room, user }) => {
    const found = await findMember(ctx, room, user);
    if (found === null) return null;
    const last = await findHeartbeat(ctx, room, user);
    if (last?.checkId) await ctx.scheduler.cancel(last.checkId);
    await goOffline(ctx, found);
    return null;
  },
});

export const online = query({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    const members = await ctx.db
      .query("members")
      .withIndex("by_room", (q) => q.eq("room", room))
      .collect();
    return members.map(({ user }) => user);
  },
});

export const rooms = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const members = await ctx.db
      .query("members")
      .withIndex("by_member", (q) => q.eq("user", user))
      .collect();
    return members.map(({ room }) => room);
  },
});

export const lastHeartbeat = query({
  args: member,
  handler: async (ctx, { room, user }) => {
    return (await findHeartbeat(ctx, room, user))?.at ?? null;
  },
});

export const peak = query({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    return (await findRoom(ctx, room))?.peak ?? 0;
  },
});

/** Ends the presence of somebody who was silent for too long; looks again later if there was a heartbeat. */
export const check = internalMutation({
  args: { heartbeatId: v.id("heartbeats") },
  handler: async (ctx, { heartbeatId }) => {
    const last = await ctx.db.get("heartbeats", heartbeatId);
    if (last === null) return;
    const found = await findMember(ctx, last.room, last.user);
    if (found === null) return;
    const ends = last.at + ONLINE_MS;
    if (ends > Date.now()) await scheduleCheck(ctx, heartbeatId, ends);
    else await goOffline(ctx, found);
  },
});

async function recordHeartbeat(
  ctx: MutationCtx,
  room: string,
  user: string,
): Promise<Id<"heartbeats">> {
  const at = Date.now();
  const last = await findHeartbeat(ctx, room, user);
  if (last === null) {
    return await ctx.db.insert("heartbeats", { room, user, at });
  }
  await ctx.db.patch("heartbeats", last._id, { at });
  return last._id;
}

async function scheduleCheck(
  ctx: MutationCtx,
  heartbeatId: Id<"heartbeats">,
  at: number,
): Promise<void> {
  const checkId = await ctx.scheduler.runAt(at, internal.presence.check, {
    heartbeatId,
  });
  await ctx.db.patch("heartbeats", heartbeatId, { checkId });
}

async function goOffline(ctx: MutationCtx, gone: Doc<"members">) {
  await ctx.db.delete("members", gone._id);
  await countOnline(ctx, gone.room, -1);
}

async function countOnline(ctx: MutationCtx, room: string, change: number) {
  const found = await findRoom(ctx, room);
  if (found === null) {
    await ctx.db.insert("rooms", { room, online: change, peak: change });
    return;
  }
  const now = found.online + change;
  const most = Math.max(found.peak, now);
  await ctx.db.patch("rooms", found._id, { online: now, peak: most });
}

async function findMember(ctx: QueryCtx, room: string, user: string) {
  return await ctx.db
    .query("members")
    .withIndex("by_member", (q) => q.eq("user", user).eq("room", room))
    .unique();
}

async function findHeartbeat(ctx: QueryCtx, room: string, user: string) {
  return await ctx.db
    .query("heartbeats")
    .withIndex("by_member", (q) => q.eq("user", user).eq("room", room))
    .unique();
}

async function findRoom(ctx: QueryCtx, room: string) {
  return await ctx.db
    .query("rooms")
    .withIndex("by_room", (q) => q.eq("room", room))
    .unique();
}
