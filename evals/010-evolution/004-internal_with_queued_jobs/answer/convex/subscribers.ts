import { makeFunctionReference } from "convex/server";
import { v } from "convex/values";
import { internalQuery, mutation, query } from "./_generated/server";

export const subscribe = mutation({
  args: {
    email: v.string(),
    name: v.nullable(v.string()),
    source: v.optional(v.string()),
  },
  handler: async (ctx, args) => {
    const email = args.email.trim().toLowerCase();
    const known = await ctx.db
      .query("subscribers")
      .withIndex("by_email", (q) => q.eq("email", email))
      .first();
    if (known) return known._id;
    const name = args.name ?? email;
    const id = await ctx.db.insert("subscribers", { email, name });
    const automations = await ctx.db
      .query("automations")
      .withIndex("by_event", (q) => q.eq("event", "subscribed"))
      .collect();
    for (const { handler } of automations) {
      const reference = makeFunctionReference<"mutation">(handler);
      await ctx.scheduler.runAfter(60_000, reference, { email });
    }
    return id;
  },
});

export const unsubscribe = mutation({
  args: { email: v.string(), reason: v.optional(v.string()) },
  handler: async (ctx, args) => {
    const subscriber = await ctx.db
      .query("subscribers")
      .withIndex("by_email", (q) => q.eq("email", args.email))
      .first();
    if (subscriber) await ctx.db.delete("subscribers", subscriber._id);
    return null;
  },
});

export const isSubscribed = query({
  args: { email: v.string() },
  handler: async (ctx, args) => {
    const subscriber = await ctx.db
      .query("subscribers")
      .withIndex("by_email", (q) => q.eq("email", args.email))
      .first();
    return subscriber !== null;
  },
});

export const everybody = internalQuery({
  args: {},
  handler: async (ctx) => {
    const subscribers = await ctx.db.query("subscribers").collect();
    return subscribers.map(({ email }) => email);
  },
});
