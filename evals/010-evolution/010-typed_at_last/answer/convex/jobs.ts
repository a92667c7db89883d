import { paginationOptsValidator, paginationResultValidator } from "convex/server";
import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { executeCommand } from "./lib/commands";
import type { Entry } from "./contract";
import { entryOf, move, priorityOf, showJob, stateOf } from "./lib/jobs";
import { label } from "./lib/labels";
import { must } from "./lib/util";
import { command, entry, entryType, job, outcome, phase, priority } from "./lib/validators";

export const open = mutation({
  args: { instrumentId: v.id("instruments"), title: v.string(), priority: v.optional(priority) },
  returns: v.id("jobs"),
  handler: async (ctx, { instrumentId, title, priority = "normal" }) => {
    await must(ctx, "instruments", instrumentId);
    const phase = "waiting";
    return await ctx.db.insert("jobs", { instrumentId, title, priority, phase, state: { phase }, parts: "{}" });
  },
});

export const get = query({
  args: { jobId: v.id("jobs") },
  returns: v.nullable(job),
  handler: async (ctx, { jobId }) => {
    const job = await ctx.db.get("jobs", jobId);
    return job && (await showJob(ctx, job));
  },
});

export const list = query({
  args: { phase, paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(job),
  handler: async (ctx, { phase, paginationOpts }) => {
    const result = await ctx.db
      .query("jobs")
      .withIndex("by_phase", (q) => q.eq("phase", phase))
      .order("desc")
      .paginate(paginationOpts);
    return { ...result, page: await Promise.all(result.page.map((job) => showJob(ctx, job))) };
  },
});

export const run = mutation({
  args: { jobId: v.id("jobs"), command },
  returns: outcome,
  handler: async (ctx, { jobId, command }) => await executeCommand(ctx, jobId, command),
});

/** The oldest first. */
export const history = query({
  args: { jobId: v.id("jobs"), type: v.optional(entryType) },
  returns: v.array(v.object({ at: v.number(), entry })),
  handler: async (ctx, { jobId, type }) => {
    const events = await ctx.db
      .query("events")
      .withIndex("by_job", (q) => q.eq("jobId", jobId))
      .collect();
    const entries = events.map((event) => ({ at: event.at, entry: entryOf(event) }));
    return entries.filter((each) => type === undefined || each.entry.type === type);
  },
});

/** The same for people to read. */
export const timeline = query({
  args: { jobId: v.id("jobs") },
  returns: v.array(v.string()),
  handler: async (ctx, { jobId }) => {
    const job = await must(ctx, "jobs", jobId);
    const events = await ctx.db
      .query("events")
      .withIndex("by_job", (q) => q.eq("jobId", jobId))
      .collect();
    const title = `${label("priority", priorityOf(job))} ${job.title}`.trim();
    return [title, ...events.map((event) => describe(entryOf(event)))];
  },
});

function describe(entry: Entry): string {
  switch (entry.type) {
    case "moved":
      return `from ${label("phase", entry.from)} to ${label("phase", entry.to)}`;
    case "part":
      return `${entry.count} x ${entry.sku}`;
    case "note":
      return entry.author === null ? entry.text : `${entry.text} (${entry.author})`;
  }
}

/** A quote that was neither replaced nor accepted in time: the job waits again. */
export const expire = internalMutation({
  args: { jobId: v.id("jobs"), validUntil: v.number() },
  returns: v.null(),
  handler: async (ctx, { jobId, validUntil }) => {
    const job = await ctx.db.get("jobs", jobId);
    if (job === null) return null;
    const state = stateOf(job);
    if (state.phase === "quoted" && state.validUntil === validUntil) await move(ctx, job, { phase: "waiting" });
    return null;
  },
});
