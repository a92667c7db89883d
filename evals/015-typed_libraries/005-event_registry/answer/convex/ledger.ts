import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { registry } from "./registry";
import { account } from "./schema";
import { describe, eventsOf, replay, subscribers } from "./subscribers";

export const record = mutation({
  args: { stream: v.string(), event: registry.current },
  returns: v.number(),
  handler: async (ctx, { stream, event }) => {
    const last = await ctx.db
      .query("events")
      .withIndex("by_stream", (q) => q.eq("stream", stream))
      .order("desc")
      .first();
    const seq = (last?.seq ?? 0) + 1;
    await ctx.db.insert("events", { ...registry.store(event), stream, seq });
    await registry.publish({ ...ctx, stream }, event, subscribers);
    return seq;
  },
});

export const history = query({
  args: { stream: v.string(), names: v.optional(v.array(registry.name)) },
  returns: v.array(registry.current),
  handler: async (ctx, { stream, names = registry.names }) => {
    const events = (await eventsOf(ctx, stream)).map((each) => registry.load(each));
    return registry.only(events, ...names);
  },
});

export const state = query({
  args: { stream: v.string() },
  returns: v.nullable(account),
  handler: async (ctx, args) => replay(await eventsOf(ctx, args.stream)),
});

export const statement = query({
  args: { stream: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, args) => (await eventsOf(ctx, args.stream)).map((each) => describe(registry.load(each))),
});

export const version = query({
  args: { name: registry.name },
  returns: v.number(),
  handler: (_ctx, args) => registry.version(args.name),
});
