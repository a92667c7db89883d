import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, { send: { kind: "fixed window", rate: 1, period: HOUR } });

export const enter = mutation({
  args: {},
  returns: v.boolean(),
  handler: async (ctx) => (await limiter.limit(ctx, "send")).ok,
});
