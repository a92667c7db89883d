import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import type { state } from "./schema";

type State = Infer<typeof state>;

const LEASE_MS = 60_000;
const FIRST_DELAY_MS = 10_000;
const MOST_ATTEMPTS = 4;
const NONE = { ready: 0, delayed: 0, leased: 0, done: 0, dead: 0 };
const leased = { jobId: v.string(), lease: v.string() };

export const enqueue = mutation({
  args: {
    queue: v.string(),
    payload: v.string(),
    priority: v.number(),
    delayMs: v.optional(v.number()),
  },
  handler: async (ctx, { queue, payload, priority, delayMs = 0 }) => {
    const state = delayMs > 0 ? "delayed" : "ready";
    const jobId = await ctx.db.insert("jobs", {
      queue,
      payload,
      rank: -priority,
      state,
      attempts: 0,
      lease: null,
      leaseEnds: 0,
      diedAt: 0,
    });
    await count(ctx, queue, { [state]: 1 });
    if (delayMs > 0) {
      await ctx.scheduler.runAfter(delayMs, internal.jobs.makeReady, { jobId });
    }
    return jobId;
  },
});

export const claim = mutation({
  args: { queue: v.string() },
  handler: async (ctx, { queue }) => {
    const job = await ctx.db
      .query("jobs")
      .withIndex("by_rank", (q) => q.eq("queue", queue).eq("state", "ready"))
      .first();
    if (job === null) return null;
    const lease = crypto.randomUUID();
    const attempt = job.attempts + 1;
    const leaseEnds = Date.now() + LEASE_MS;
    await move(ctx, job, "leased", { attempts: attempt, lease, leaseEnds });
    await watch(ctx, job, lease, leaseEnds);
    return { jobId: job._id, payload: job.payload, attempt, lease };
  },
});

export const extend = mutation({
  args: leased,
  handler: async (ctx, { jobId, lease }) => {
    const job = await findLeased(ctx, jobId, lease);
    if (job === null) return false;
    const leaseEnds = Date.now() + LEASE_MS;
    await ctx.db.patch("jobs", job._id, { leaseEnds });
    await watch(ctx, job, lease, leaseEnds);
    return true;
  },
});

export const complete = mutation({
  args: leased,
  handler: async (ctx, { jobId, lease }) => {
    const job = await findLeased(ctx, jobId, lease);
    if (job === null) return false;
    await move(ctx, job, "done", { lease: null });
    return true;
  },
});

export const fail = mutation({
  args: leased,
  handler: async (ctx, { jobId, lease }) => {
    const job = await findLeased(ctx, jobId, lease);
    if (job === null) return false;
    await failAttempt(ctx, job);
    return true;
  },
});

export const revive = mutation({
  args: { jobId: v.string() },
  handler: async (ctx, { jobId }) => {
    const job = await findJob(ctx, jobId);
    if (job?.state !== "dead") return false;
    await move(ctx, job, "ready", { attempts: 0 });
    return true;
  },
});

export const stats = query({
  args: { queue: v.string() },
  handler: async (ctx, { queue }) => {
    const found = await findCounts(ctx, queue);
    const { ready, delayed, leased, done, dead } = found ?? NONE;
    return { ready, delayed, leased, done, dead };
  },
});

export const dead = query({
  args: { queue: v.string() },
  handler: async (ctx, { queue }) => {
    const jobs = await ctx.db
      .query("jobs")
      .withIndex("by_death", (q) => q.eq("queue", queue).eq("state", "dead"))
      .collect();
    return jobs.map(({ _id, payload }) => ({ jobId: _id, payload }));
  },
});

export const makeReady = internalMutation({
  args: { jobId: v.id("jobs") },
  handler: async (ctx, { jobId }) => {
    const job = await ctx.db.get("jobs", jobId);
    if (job?.state === "delayed") await move(ctx, job, "ready", {});
  },
});

export const endLease = internalMutation({
  args: { jobId: v.id("jobs"), lease: v.string(), leaseEnds: v.number() },
  handler: async (ctx, { jobId, lease, leaseEnds }) => {
    const job = await ctx.db.get("jobs", jobId);
    // The lease may have been extended, or the job may be somebody else's by now.
    if (job?.state !== "leased" || job.lease !== lease) return;
    if (job.leaseEnds === leaseEnds) await failAttempt(ctx, job);
  },
});

async function failAttempt(ctx: MutationCtx, job: Doc<"jobs">): Promise<void> {
  if (job.attempts >= MOST_ATTEMPTS) {
    await move(ctx, job, "dead", { lease: null, diedAt: Date.now() });
    return;
  }
  await move(ctx, job, "delayed", { lease: null });
  const delay = FIRST_DELAY_MS * 2 ** (job.attempts - 1);
  const jobId = job._id;
  await ctx.scheduler.runAfter(delay, internal.jobs.makeReady, { jobId });
}

async function watch(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  lease: string,
  leaseEnds: number,
): Promise<void> {
  const jobId = job._id;
  const ended = { jobId, lease, leaseEnds };
  await ctx.scheduler.runAt(leaseEnds, internal.jobs.endLease, ended);
}

async function move(
  ctx: MutationCtx,
  job: Doc<"jobs">,
  to: State,
  changes: Partial<Doc<"jobs">>,
): Promise<void> {
  await ctx.db.patch("jobs", job._id, { ...changes, state: to });
  await count(ctx, job.queue, { [job.state]: -1, [to]: 1 });
}

async function count(
  ctx: MutationCtx,
  queue: string,
  changes: Partial<Record<State, number>>,
): Promise<void> {
  const found = await findCounts(ctx, queue);
  const { ready, delayed, leased, done, dead } = found ?? NONE;
  const counts = {
    ready: ready + (changes.ready ?? 0),
    delayed: delayed + (changes.delayed ?? 0),
    leased: leased + (changes.leased ?? 0),
    done: done + (changes.done ?? 0),
    dead: dead + (changes.dead ?? 0),
  };
  if (found === null) await ctx.db.insert("counts", { queue, ...counts });
  else await ctx.db.patch("counts", found._id, counts);
}

async function findCounts(ctx: QueryCtx, queue: string) {
  return await ctx.db
    .query("counts")
    .withIndex("by_queue", (q) => q.eq("queue", queue))
    .unique();
}

async function findJob(ctx: QueryCtx, text: string) {
  const jobId = ctx.db.normalizeId("jobs", text);
  return jobId === null ? null : await ctx.db.get("jobs", jobId);
}

async function findLeased(ctx: QueryCtx, jobId: string, lease: string) {
  const job = await findJob(ctx, jobId);
  if (job?.state !== "leased" || job.lease !== lease) return null;
  return job.leaseEnds > Date.now() ? job : null;
}
