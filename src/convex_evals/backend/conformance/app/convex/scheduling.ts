import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { api, internal } from "./_generated/api";
import { action, internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";

const name = v.string();

export const runs = query({
  args: { name },
  handler: async (ctx, args) =>
    await ctx.db.query("scheduling_runs").withIndex("by_name", (q) => q.eq("name", args.name)).collect(),
});

export const job = query({
  args: { id: v.id("_scheduled_functions") },
  handler: async (ctx, args) => await ctx.db.system.get(args.id),
});

export const newestJobs = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) =>
    await ctx.db.system.query("_scheduled_functions").order("desc").paginate(args.paginationOpts),
});

export const record = internalMutation({
  args: { name, job: v.optional(v.id("_scheduled_functions")) },
  handler: async (ctx, args) => {
    const own = args.job === undefined ? null : await ctx.db.system.get(args.job);
    const metadata = JSON.parse(await (globalThis as any).Convex.asyncSyscall("1.0/getRequestMetadata", "{}"));
    await ctx.db.insert("scheduling_runs", {
      name: args.name,
      at: Date.now(),
      identity: (await ctx.auth.getUserIdentity()) !== null,
      job: metadata.scheduledFunctionId,
      ...(own === null ? {} : { state: own.state.kind }),
    });
  },
});

export const fails = internalMutation({
  args: { name },
  handler: async () => {
    throw new Error("scheduled failure");
  },
});

export const isQuery = internalQuery({ args: {}, handler: async () => null });

export const slowAction = internalAction({
  args: { name, ms: v.number(), schedulesAfter: v.optional(v.boolean()) },
  handler: async (ctx, args): Promise<void> => {
    await ctx.runMutation(internal.scheduling.record, { name: args.name });
    await new Promise((resolve) => setTimeout(resolve, args.ms));
    if (args.schedulesAfter === true)
      await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: `${args.name} late` });
  },
});

export const later = mutation({
  args: { name, ms: v.number() },
  handler: async (ctx, args) => await ctx.scheduler.runAfter(args.ms, internal.scheduling.record, { name: args.name }),
});

export const at = mutation({
  args: { name, time: v.number() },
  handler: async (ctx, args) => await ctx.scheduler.runAt(args.time, internal.scheduling.record, { name: args.name }),
});

export const three = mutation({
  args: { name },
  handler: async (ctx, args) => {
    for (const suffix of ["1", "2", "3"])
      await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: `${args.name}${suffix}` });
  },
});

export const scheduleThenThrow = mutation({
  args: { name },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: args.name });
    throw new Error("no");
  },
});

export const actionScheduleThenThrow = action({
  args: { name },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: args.name });
    throw new Error("no");
  },
});

export const scheduleFailing = mutation({
  args: { name },
  handler: async (ctx, args) => await ctx.scheduler.runAfter(0, internal.scheduling.fails, { name: args.name }),
});

export const scheduleObserver = mutation({
  args: { name },
  handler: async (ctx, args) => {
    // The job learns its own id from a second argument that only exists once it is scheduled.
    const id: Id<"_scheduled_functions"> = await ctx.scheduler.runAfter(0, internal.scheduling.observe, { name: args.name });
    return id;
  },
});

export const observe = internalMutation({
  args: { name },
  handler: async (ctx, args): Promise<void> => {
    const metadata = JSON.parse(await (globalThis as any).Convex.asyncSyscall("1.0/getRequestMetadata", "{}"));
    await ctx.runMutation(internal.scheduling.record, { name: args.name, job: metadata.scheduledFunctionId });
  },
});

export const scheduleSlowAction = mutation({
  args: { name, ms: v.number(), schedulesAfter: v.optional(v.boolean()) },
  handler: async (ctx, args) => await ctx.scheduler.runAfter(0, internal.scheduling.slowAction, args),
});

export const cancel = mutation({
  args: { id: v.string() },
  handler: async (ctx, args) => {
    await ctx.scheduler.cancel(args.id as Id<"_scheduled_functions">);
  },
});

export const scheduleMissing = mutation({
  args: { target: v.string() },
  handler: async (_ctx, args) =>
    await (globalThis as any).Convex.asyncSyscall(
      "1.0/schedule",
      JSON.stringify({ name: args.target, ts: Date.now() / 1000, args: {}, version: "1.44.0" }),
    ),
});

export const scheduleBadDelay = mutation({
  args: { ms: v.number() },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(args.ms, internal.scheduling.record, { name: "never" });
  },
});

export const scheduleBadArgs = mutation({
  args: {},
  handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.scheduling.record, { nope: 1 } as never),
});

export const scheduleQuery = mutation({
  args: {},
  handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.scheduling.isQuery as never, {}),
});

export const innerSchedules = internalMutation({
  args: { name },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(0, internal.scheduling.record, { name: args.name });
    throw new Error("inner");
  },
});

export const catchesInnerSchedule = mutation({
  args: { name },
  handler: async (ctx, args): Promise<null> => {
    try {
      await ctx.runMutation(internal.scheduling.innerSchedules, args);
    } catch {
      // the job is undone with the nested mutation
    }
    return null;
  },
});

export const asUser = mutation({
  args: { name },
  handler: async (ctx, args): Promise<string> => {
    if ((await ctx.auth.getUserIdentity()) === null) throw new Error("expected a user");
    return await ctx.runMutation(api.scheduling.later, { name: args.name, ms: 0 });
  },
});
