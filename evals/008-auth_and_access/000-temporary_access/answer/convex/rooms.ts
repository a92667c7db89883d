import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

export const create = mutation({
  args: { name: v.string(), seats: v.number() },
  handler: async (ctx, { name, seats }) => {
    const owner = await caller(ctx);
    if (owner === null) {
      throw new ConvexError({ code: "UNAUTHENTICATED" });
    }
    return await ctx.db.insert("rooms", { name, owner, seats });
  },
});

export const letIn = mutation({
  args: { roomId: v.id("rooms"), user: v.string(), until: v.number() },
  handler: async (ctx, { roomId, user, until }) => {
    const room = await ownRoom(ctx, roomId);
    if (!(until > Date.now()) || user === room.owner) {
      throw new ConvexError({ code: "INVALID" });
    }
    const passId = await passOrSeat(ctx, room, user, until);
    await ctx.scheduler.runAt(until, internal.rooms.end, { passId });
    return null;
  },
});

async function passOrSeat(
  ctx: MutationCtx,
  room: Doc<"rooms">,
  user: string,
  until: number,
): Promise<Id<"passes">> {
  const pass = await findPass(ctx, room._id, user);
  if (pass !== null && isGood(pass)) {
    await ctx.db.patch("passes", pass._id, { until });
    return pass._id;
  }
  if ((await goodPasses(ctx, room._id)).length >= room.seats) {
    throw new ConvexError({ code: "FULL" });
  }
  await removePass(ctx, room._id, user);
  return await ctx.db.insert("passes", { roomId: room._id, user, until });
}

/** Planned for every end that a pass has ever had: only the one that counts now may remove it. */
export const end = internalMutation({
  args: { passId: v.id("passes") },
  handler: async (ctx, { passId }) => {
    const pass = await ctx.db.get("passes", passId);
    if (pass !== null && !isGood(pass)) {
      await ctx.db.delete("passes", passId);
    }
    return null;
  },
});

export const throwOut = mutation({
  args: { roomId: v.id("rooms"), user: v.string() },
  handler: async (ctx, { roomId, user }) => {
    await ownRoom(ctx, roomId);
    await removePass(ctx, roomId, user);
    return null;
  },
});

export const addNote = mutation({
  args: { roomId: v.id("rooms"), text: v.string() },
  handler: async (ctx, { roomId, text }) => {
    await ownRoom(ctx, roomId);
    await ctx.db.insert("notes", { roomId, text });
    return null;
  },
});

export const transfer = mutation({
  args: { roomId: v.id("rooms"), user: v.string() },
  handler: async (ctx, { roomId, user }) => {
    await ownRoom(ctx, roomId);
    await removePass(ctx, roomId, user);
    await ctx.db.patch("rooms", roomId, { owner: user });
    return null;
  },
});

export const close = mutation({
  args: { roomId: v.id("rooms") },
  handler: async (ctx, { roomId }) => {
    await ownRoom(ctx, roomId);
    for (const pass of await allPasses(ctx, roomId)) {
      await ctx.db.delete("passes", pass._id);
    }
    for (const note of await allNotes(ctx, roomId)) {
      await ctx.db.delete("notes", note._id);
    }
    await ctx.db.delete("rooms", roomId);
    return null;
  },
});

export const notes = query({
  args: { roomId: v.id("rooms") },
  handler: async (ctx, { roomId }) => {
    const room = await ctx.db.get("rooms", roomId);
    if (room === null || !(await hasAccess(ctx, room, await caller(ctx)))) {
      return null;
    }
    return (await allNotes(ctx, roomId)).map((note) => note.text);
  },
});

export const guests = query({
  args: { roomId: v.id("rooms") },
  handler: async (ctx, { roomId }) => {
    const room = await ctx.db.get("rooms", roomId);
    if (room === null || room.owner !== (await caller(ctx))) {
      return null;
    }
    return (await goodPasses(ctx, roomId)).map(({ user, until }) => ({
      user,
      until,
    }));
  },
});

export const mine = query({
  args: {},
  handler: async (ctx) => {
    const user = await caller(ctx);
    if (user === null) {
      return [];
    }
    const owned = await ctx.db
      .query("rooms")
      .withIndex("by_owner", (q) => q.eq("owner", user))
      .collect();
    const passes = await ctx.db
      .query("passes")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    const visited = await Promise.all(
      passes.filter(isGood).map(({ roomId }) => ctx.db.get("rooms", roomId)),
    );
    return [...owned, ...visited]
      .flatMap((room) => (room === null ? [] : [room.name]))
      .sort();
  },
});

async function caller(ctx: QueryCtx): Promise<string | null> {
  return (await ctx.auth.getUserIdentity())?.subject ?? null;
}

/** The room, if the caller owns it. Who has no access must not learn whether it exists. */
async function ownRoom(
  ctx: QueryCtx,
  roomId: Id<"rooms">,
): Promise<Doc<"rooms">> {
  const user = await caller(ctx);
  const room = await ctx.db.get("rooms", roomId);
  if (room === null || !(await hasAccess(ctx, room, user))) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
  if (room.owner !== user) {
    throw new ConvexError({ code: "FORBIDDEN" });
  }
  return room;
}

async function hasAccess(
  ctx: QueryCtx,
  room: Doc<"rooms">,
  user: string | null,
): Promise<boolean> {
  if (user === null || user === room.owner) {
    return user !== null;
  }
  const pass = await findPass(ctx, room._id, user);
  return pass !== null && isGood(pass);
}

function isGood(pass: Doc<"passes">): boolean {
  return pass.until > Date.now();
}

async function findPass(ctx: QueryCtx, roomId: Id<"rooms">, user: string) {
  return await ctx.db
    .query("passes")
    .withIndex("by_room_and_user", (q) =>
      q.eq("roomId", roomId).eq("user", user),
    )
    .unique();
}

async function removePass(
  ctx: MutationCtx,
  roomId: Id<"rooms">,
  user: string,
): Promise<void> {
  const pass = await findPass(ctx, roomId, user);
  if (pass !== null) {
    await ctx.db.delete("passes", pass._id);
  }
}

async function allPasses(ctx: QueryCtx, roomId: Id<"rooms">) {
  return await ctx.db
    .query("passes")
    .withIndex("by_room_and_user", (q) => q.eq("roomId", roomId))
    .collect();
}

async function goodPasses(ctx: QueryCtx, roomId: Id<"rooms">) {
  return (await allPasses(ctx, roomId)).filter(isGood);
}

async function allNotes(ctx: QueryCtx, roomId: Id<"rooms">) {
  return await ctx.db
    .query("notes")
    .withIndex("by_room", (q) => q.eq("roomId", roomId))
    .collect();
}
