import { ConvexError, v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

type Claim = { user: string; handle: string };

const RESERVED_MS = 30 * 24 * 60 * 60 * 1000;
const MOST_RESERVED = 2;
const SHORTEST = 3;
const LONGEST = 20;
const SEARCH_RESULTS = 10;
const claimed = { user: v.string(), handle: v.string() };

export const claim = mutation({
  args: claimed,
  handler: async (ctx, { user, handle }) => {
    await claimAtOnce(ctx, [{ user, handle }]);
    return null;
  },
});

export const claimAll = mutation({
  args: { claims: v.array(v.object(claimed)) },
  handler: async (ctx, { claims }) => {
    await claimAtOnce(ctx, claims);
    return null;
  },
});

export const release = mutation({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const current = await handleOfUser(ctx, user);
    if (current === null) return null;
    await ctx.db.delete("handles", current._id);
    await reserve(ctx, current);
    return null;
  },
});

export const lookup = query({
  args: { handle: v.string() },
  handler: async (ctx, { handle }) => {
    const found = await ownerOf(ctx, normalize(handle));
    return found && { user: found.user, handle: found.handle };
  },
});

export const handleOf = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    return (await handleOfUser(ctx, user))?.handle ?? null;
  },
});

export const reserved = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const reservations = await reservationsFor(ctx, user);
    return reservations
      .filter(({ until }) => until > Date.now())
      .map(({ handle, until }) => ({ handle, until }));
  },
});

export const search = query({
  args: { prefix: v.string() },
  handler: async (ctx, { prefix }) => {
    const start = normalize(prefix);
    const found: string[] = [];
    const handles = ctx.db
      .query("handles")
      .withIndex("by_normalized", (q) => q.gte("normalized", start));
    for await (const { handle, normalized } of handles) {
      if (!normalized.startsWith(start)) break;
      found.push(handle);
      if (found.length === SEARCH_RESULTS) break;
    }
    return found;
  },
});

async function claimAtOnce(ctx: MutationCtx, claims: Claim[]): Promise<void> {
  const users = new Set(claims.map(({ user }) => user));
  if (users.size < claims.length) throw new ConvexError({ code: "DUPLICATE" });
  const wanted = new Set<string>();
  for (const { user, handle } of claims) {
    const normalized = await requireFree(ctx, user, handle, users);
    if (wanted.has(normalized)) throw new ConvexError({ code: "TAKEN" });
    wanted.add(normalized);
  }
  const given: Doc<"handles">[] = [];
  for (const { user } of claims) {
    const current = await handleOfUser(ctx, user);
    if (current === null) continue;
    given.push(current);
    await ctx.db.delete("handles", current._id);
  }
  for (const { user, handle } of claims) await take(ctx, user, handle);
  for (const old of given) {
    if (!wanted.has(old.normalized)) await reserve(ctx, old);
  }
}

/** The normalized handle, if this user can have it; users in `movers` give up theirs. */
async function requireFree(
  ctx: QueryCtx,
  user: string,
  handle: string,
  movers: Set<string>,
): Promise<string> {
  const { length } = handle.trim();
  if (length < SHORTEST || length > LONGEST) {
    throw new ConvexError({ code: "INVALID" });
  }
  const normalized = normalize(handle);
  const owner = await ownerOf(ctx, normalized);
  const reservation = await reservationOf(ctx, normalized);
  const isOwned = owner !== null && !movers.has(owner.user);
  const isReserved =
    reservation !== null &&
    reservation.user !== user &&
    reservation.until > Date.now();
  if (isOwned || isReserved) throw new ConvexError({ code: "TAKEN" });
  return normalized;
}

async function take(
  ctx: MutationCtx,
  user: string,
  handle: string,
): Promise<void> {
  const normalized = normalize(handle);
  const reservation = await reservationOf(ctx, normalized);
  if (reservation) await ctx.db.delete("reservations", reservation._id);
  await ctx.db.insert("handles", { user, handle: handle.trim(), normalized });
}

async function reserve(
  ctx: MutationCtx,
  { user, handle, normalized }: Doc<"handles">,
): Promise<void> {
  const until = Date.now() + RESERVED_MS;
  const reservation = { user, handle, normalized, until };
  await ctx.db.insert("reservations", reservation);
  const all = await reservationsFor(ctx, user);
  for (const { _id } of all.slice(0, -MOST_RESERVED)) {
    await ctx.db.delete("reservations", _id);
  }
}

function normalize(handle: string): string {
  return handle.trim().normalize("NFKC").toLowerCase();
}

async function ownerOf(ctx: QueryCtx, normalized: string) {
  return await ctx.db
    .query("handles")
    .withIndex("by_normalized", (q) => q.eq("normalized", normalized))
    .unique();
}

async function handleOfUser(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("handles")
    .withIndex("by_user", (q) => q.eq("user", user))
    .unique();
}

async function reservationOf(ctx: QueryCtx, normalized: string) {
  return await ctx.db
    .query("reservations")
    .withIndex("by_normalized", (q) => q.eq("normalized", normalized))
    .unique();
}

/** Also those that are over; the one that was given up first comes first. */
async function reservationsFor(ctx: QueryCtx, user: string) {
  return await ctx.db
    .query("reservations")
    .withIndex("by_user", (q) => q.eq("user", user))
    .collect();
}
