import { makeFunctionReference } from "convex/server";
import { mutation, query } from "./_generated/server";

export const subscribe = mutation(
  async (ctx, args: { email: string; name: string | null }) => {
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
      await ctx.scheduler.runAfter(60_000, reference, { ...args, email });
    }
    return id;
  },
);

export const unsubscribe = mutation(async (ctx, args: { email: string }) => {
  const subscriber = await ctx.db
    .query("subscribers")
    .withIndex("by_email", (q) => q.eq("email", args.email))
    .first();
  if (subscriber) await ctx.db.delete("subscribers", subscriber._id);
  return null;
});

export const isSubscribed = query(async (ctx, args: { email: string }) => {
  const subscriber = await ctx.db
    .query("subscribers")
    .withIndex("by_email", (q) => q.eq("email", args.email))
    .first();
  return subscriber !== null;
});

export const everybody = query(async (ctx) => {
  const subscribers = await ctx.db.query("subscribers").collect();
  return subscribers.map(({ email }) => email);
});
