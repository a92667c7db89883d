import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { execute } from "./lib/commands";
import { entryOf, move, priorityOf, showJob, stateOf } from "./lib/jobs";
import { label } from "./lib/labels";
import { must } from "./lib/util";

export const open = mutation({
  args: { instrumentId: v.any(), title: v.any(), priority: v.optional(v.any()) },
  handler: async (ctx, { instrumentId, title, priority }) => {
    await must(ctx, "instruments", instrumentId);
    return await ctx.db.insert("jobs", {
      instrumentId,
      title,
      priority: priority ?? "normal",
      phase: "waiting",
      state: { phase: "waiting" },
      parts: "{}",
    } as any);
  },
});

export const get = query({
  args: { jobId: v.any() },
  handler: async (ctx, { jobId }): Promise<any> => {
    const job = await ctx.db.get("jobs", jobId);
    return job ? await showJob(ctx, job) : null;
  },
});

export const list = query({
  args: { phase: v.any(), paginationOpts: v.any() },
  handler: async (ctx, { phase, paginationOpts }): Promise<any> => {
    const result = await ctx.db
      .query("jobs")
      .withIndex("by_phase", (q) => q.eq("phase", phase))
      .order("desc")
      .paginate(paginationOpts);
    return { ...result, page: await Promise.all(result.page.map((job) => showJob(ctx, job))) };
  },
});

export const run = mutation({
  args: { jobId: v.any(), command: v.any() },
  handler: async (ctx, { jobId, command }): Promise<any> => await execute(ctx, jobId, command.kind, command.payload),
});

/** The oldest first. */
export const history = query(async (ctx, args: any): Promise<any> => {
  const events: any[] = await ctx.db
    .query("events")
    .withIndex("by_job", (q) => q.eq("jobId", args.jobId))
    .collect();
  const entries = events.map((event) => ({ at: event.at, entry: entryOf(event) }));
  return args.type ? entries.filter((each) => each.entry.type === args.type) : entries;
});

/** The same for people to read. */
export const timeline = query(async (ctx, args: any): Promise<any> => {
  const job: any = await must(ctx, "jobs", args.jobId);
  const events = await ctx.db
    .query("events")
    .withIndex("by_job", (q) => q.eq("jobId", args.jobId))
    .collect();
  const texts: any = {
    moved: ({ from, to }: any) => `from ${label("phase", from)} to ${label("phase", to)}`,
    part: ({ sku, count }: any) => `${count} x ${sku}`,
    note: ({ text, author }: any) => (author === null ? text : `${text} (${author})`),
  };
  const lines = events.map(entryOf).map((entry: any) => texts[entry.type](entry));
  return [`${label("priority", priorityOf(job))} ${job.title}`.trim(), ...lines];
});

/** A quote that was neither replaced nor accepted in time: the job waits again. */
export const expire = internalMutation(async (ctx, args: any) => {
  const job: any = await ctx.db.get("jobs", args.jobId);
  if (!job) return null;
  const state = stateOf(job);
  if (state.phase === "quoted" && state.validUntil === args.validUntil) await move(ctx, job, { phase: "waiting" });
  return null;
});
