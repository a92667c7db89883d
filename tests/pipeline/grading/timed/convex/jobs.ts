import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";

const named = { name: v.string() };

export const record = internalMutation({
  args: named,
  handler: async (ctx, { name }) => {
    await ctx.db.insert("runs", { name, at: Date.now() });
  },
});

/** Every second, as often as `times` says. */
export const chain = internalMutation({
  args: { ...named, times: v.number() },
  handler: async (ctx, { name, times }) => {
    await ctx.db.insert("runs", { name, at: Date.now() });
    if (times > 1) await ctx.scheduler.runAfter(1000, internal.jobs.chain, { name, times: times - 1 });
  },
});

export const later = mutation({
  args: { ...named, ms: v.number(), times: v.number() },
  handler: async (ctx, { name, ms, times }) => {
    await ctx.scheduler.runAfter(ms, internal.jobs.chain, { name, times });
    return Date.now();
  },
});

export const time = query({ args: {}, handler: async () => Date.now() });

export const actionTime = action({ args: {}, handler: async () => [Date.now(), new Date().getTime()] });

/** Asks `url`, and records that there was an answer. */
export const ask = internalAction({
  args: { ...named, url: v.string() },
  handler: async (ctx, { name, url }) => {
    await fetch(url);
    await ctx.runMutation(internal.jobs.record, { name });
  },
});

export const askLater = mutation({
  args: { ...named, url: v.string(), ms: v.number() },
  handler: async (ctx, { name, url, ms }) => {
    await ctx.scheduler.runAfter(ms, internal.jobs.ask, { name, url });
  },
});

export const byIndex = query({
  args: named,
  handler: async (ctx, { name }) =>
    (await ctx.db.query("runs").withIndex("by_name", (q) => q.eq("name", name)).collect()).length,
});

export const scanned = query({
  args: named,
  handler: async (ctx, { name }) => (await ctx.db.query("runs").collect()).filter((run) => run.name === name).length,
});

export const add = mutation({
  args: named,
  handler: async (ctx, { name }) => {
    await ctx.db.insert("runs", { name, at: 0 });
  },
});

export const isFree = internalQuery({
  args: named,
  handler: async (ctx, { name }) =>
    (await ctx.db.query("seats").withIndex("by_name", (q) => q.eq("name", name)).first()) === null,
});

export const take = internalMutation({
  args: { ...named, holder: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("seats", args);
  },
});

export const book = mutation({
  args: { ...named, holder: v.string() },
  handler: async (ctx, args) => {
    const taken = await ctx.db.query("seats").withIndex("by_name", (q) => q.eq("name", args.name)).first();
    if (taken !== null) throw new Error("taken");
    await ctx.db.insert("seats", args);
    return args.holder;
  },
});

/** Looks and takes in two transactions, so that another can come between. */
export const bookInTwoSteps = action({
  args: { ...named, holder: v.string() },
  handler: async (ctx, args): Promise<string> => {
    if (!(await ctx.runQuery(internal.jobs.isFree, { name: args.name }))) throw new Error("taken");
    await ctx.runMutation(internal.jobs.take, args);
    return args.holder;
  },
});

export const caller = mutation({
  args: {},
  handler: async (ctx) => {
    const { ip, userAgent } = await ctx.meta.getRequestMetadata();
    return { ip, userAgent };
  },
});
