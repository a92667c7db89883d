import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, {
  send: { kind: "token bucket", rate: 3, period: HOUR, capacity: 3 },
  signUp: { kind: "fixed window", rate: 2, period: HOUR },
  sharded: { kind: "fixed window", rate: 100, period: HOUR, shards: 4 },
});
const name = v.union(v.literal("send"), v.literal("signUp"), v.literal("sharded"));

export const take = mutation({
  args: { name, key: v.optional(v.string()), throws: v.optional(v.boolean()) },
  handler: async (ctx, { name, ...options }) => (await limiter.limit(ctx, name, options)).ok,
});

export const reset = mutation({
  args: { name, key: v.optional(v.string()) },
  handler: async (ctx, { name, key }) => await limiter.reset(ctx, name, { key }),
});

export const left = query({
  args: { name, key: v.optional(v.string()) },
  handler: async (ctx, { name, key }) => Math.floor((await limiter.getValue(ctx, name, { key })).value),
});

/** A component of this project that limits with an instance of its own. */
export const guarded = mutation({
  args: {},
  handler: async (ctx): Promise<boolean> => await ctx.runMutation(components.guard.door.enter, {}),
});
