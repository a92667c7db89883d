import { calculateRateLimit } from "@convex-dev/rate-limiter";
import { ConvexError, v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  action,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { limiter, MOST_AT_ONCE } from "./limits";

type Sent =
  | { ok: true; ids: Id<"messages">[] }
  | { ok: false; reason: "user" | "everyone"; retryAfter: number };

const attempt = v.union(
  v.object({ result: v.literal("open") }),
  v.object({ result: v.literal("WRONG_PIN") }),
  v.object({ result: v.literal("NO_DOOR") }),
  v.object({ result: v.literal("LOCKED"), retryAfter: v.number() }),
);

export const send = mutation({
  args: { user: v.string(), body: v.string() },
  handler: async (ctx, { user, body }): Promise<Sent> => {
    return await sendAll(ctx, user, [body]);
  },
});

export const sendMany = mutation({
  args: { user: v.string(), bodies: v.array(v.string()) },
  handler: async (ctx, { user, bodies }): Promise<Sent> => {
    return await sendAll(ctx, user, bodies);
  },
});

export const messages = query({
  args: {},
  handler: async (ctx) => {
    const all = await ctx.db.query("messages").collect();
    return all.map(({ user, body }) => ({ user, body }));
  },
});

export const allowance = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => ({
    user: await leftOf(ctx, "user", user),
    everyone: await leftOf(ctx, "everyone"),
  }),
});

export const setPin = mutation({
  args: { door: v.string(), pin: v.string() },
  handler: async (ctx, { door, pin }) => {
    const known = await findDoor(ctx, door);
    if (known === null) {
      await ctx.db.insert("doors", { door, pin });
    } else {
      await ctx.db.patch("doors", known._id, { pin });
    }
    return null;
  },
});

export const open = action({
  args: { door: v.string(), pin: v.string() },
  handler: async (ctx, args): Promise<"open"> => {
    const { result, ...details }: Infer<typeof attempt> =
      await ctx.runMutation(internal.board.tryPin, args);
    if (result !== "open") {
      throw new ConvexError({ code: result, ...details });
    }
    return result;
  },
});

/** Returns what happened instead of throwing it, so that a wrong PIN is paid for. */
export const tryPin = internalMutation({
  args: { door: v.string(), pin: v.string() },
  returns: attempt,
  handler: async (ctx, { door, pin }): Promise<Infer<typeof attempt>> => {
    const known = await findDoor(ctx, door);
    if (known === null) {
      return { result: "NO_DOOR" };
    }
    const { ok, retryAfter } = await limiter.check(ctx, "door", { key: door });
    if (!ok) {
      return { result: "LOCKED", retryAfter };
    }
    if (known.pin !== pin) {
      await limiter.limit(ctx, "door", { key: door });
      return { result: "WRONG_PIN" };
    }
    await limiter.reset(ctx, "door", { key: door });
    return { result: "open" };
  },
});

async function sendAll(
  ctx: MutationCtx,
  user: string,
  bodies: string[],
): Promise<Sent> {
  if (bodies.includes("")) {
    throw new ConvexError({ code: "EMPTY" });
  }
  const count = bodies.length;
  if (count > MOST_AT_ONCE) {
    throw new ConvexError({ code: "TOO_MANY" });
  }
  if (count === 0) {
    return { ok: true, ids: [] };
  }
  const own = await limiter.check(ctx, "user", { key: user, count });
  if (!own.ok) {
    return { ok: false, reason: "user", retryAfter: own.retryAfter };
  }
  const all = await limiter.check(ctx, "everyone", { count });
  if (!all.ok) {
    return { ok: false, reason: "everyone", retryAfter: all.retryAfter };
  }
  await limiter.limit(ctx, "user", { key: user, count });
  await limiter.limit(ctx, "everyone", { count });
  const ids: Id<"messages">[] = [];
  for (const body of bodies) {
    ids.push(await ctx.db.insert("messages", { user, body }));
  }
  return { ok: true, ids };
}

/** What the component has stored is as old as the last use. */
async function leftOf(
  ctx: QueryCtx,
  name: "user" | "everyone",
  key?: string,
): Promise<number> {
  const { value, ts, config } = await limiter.getValue(ctx, name, { key });
  return Math.floor(calculateRateLimit({ value, ts }, config).value);
}

async function findDoor(ctx: QueryCtx, door: string) {
  return await ctx.db
    .query("doors")
    .withIndex("by_door", (q) => q.eq("door", door))
    .unique();
}
