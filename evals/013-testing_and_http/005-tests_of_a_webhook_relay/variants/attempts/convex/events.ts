import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { startAt } from "./deliveries";
import { fail, isWordy, listens, me } from "./rules";

type News = { type: string; payload: string; key?: string };

async function spread(ctx: MutationCtx, owner: string, { type, payload, key }: News) {
  if (payload.length >= 1001 || !isWordy(type)) fail("INVALID");
  const published = Date.now();
  const earlier = (await ctx.db.query("events").order("desc").collect()).find(
    (event) => key !== undefined && event.owner === owner && event.key === key,
  );
  if (earlier && published - earlier.published < 86_400_000) {
    return { eventId: earlier._id, deliveries: earlier.count, isNew: false };
  }
  const endpoints = (await ctx.db.query("endpoints").collect())
    .filter((each) => each.owner === owner && each.state !== "disabled")
    .filter((each) => listens(each.types, type));
  const event = { owner, type, payload, key: key ?? null, count: endpoints.length, published };
  const eventId = await ctx.db.insert("events", event);
  for (const endpoint of endpoints) {
    const made = { endpointId: endpoint._id, eventId, over: null, job: null, due: published };
    const id = await ctx.db.insert("deliveries", made);
    if (endpoint.state === "active") await startAt(ctx, id, published);
  }
  return { eventId, deliveries: endpoints.length, isNew: true };
}

const news = { type: v.string(), payload: v.string(), key: v.optional(v.string()) };

export const publish = mutation({ args: news, handler: async (ctx, args) => await spread(ctx, await me(ctx), args) });

export const posted = internalMutation({
  args: { owner: v.string(), news: v.object(news) },
  handler: async (ctx, { owner, news }) => await spread(ctx, owner, news),
});
