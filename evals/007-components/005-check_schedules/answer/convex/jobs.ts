import { Crons } from "@convex-dev/crons";
import { ConvexError, v, type Infer } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  type MutationCtx,
} from "./_generated/server";
import type { vSchedule } from "./schema";

const crons = new Crons(components.crons);

export async function startJob(
  ctx: MutationCtx,
  check: Id<"checks">,
  schedule: Infer<typeof vSchedule>,
): Promise<string> {
  const jobSchedule =
    "every" in schedule
      ? { kind: "interval" as const, ms: schedule.every * 1000 }
      : {
          kind: "cron" as const,
          cronspec: schedule.cron,
          tz: schedule.timeZone,
        };
  try {
    return await crons.register(ctx, jobSchedule, internal.jobs.begin, {
      check,
    });
  } catch {
    throw new ConvexError({ code: "BAD_SCHEDULE" });
  }
}

export async function stopJob(ctx: MutationCtx, job: string | null) {
  if (job !== null) await crons.delete(ctx, { id: job });
}

/**
 * The component leaves out a run while the last one is going on, and cancels it with its job. This one is over at
 * once, and the request does not belong to the job.
 */
export const begin = internalMutation({
  args: { check: v.id("checks") },
  handler: async (ctx, { check }) => {
    const found = await ctx.db.get("checks", check);
    if (found === null) return;
    await ctx.scheduler.runAfter(0, internal.jobs.request, {
      check,
      url: found.url,
      at: Date.now(),
    });
  },
});

export const request = internalAction({
  args: { check: v.id("checks"), url: v.string(), at: v.number() },
  handler: async (ctx, { check, url, at }) => {
    let status = 0;
    try {
      status = (await fetch(url, { method: "POST" })).status;
    } catch {
      // No connection has the status 0.
    }
    await ctx.runMutation(internal.jobs.record, { check, at, status });
  },
});

export const record = internalMutation({
  args: { check: v.id("checks"), at: v.number(), status: v.number() },
  handler: async (ctx, { check, at, status }) => {
    if ((await ctx.db.get("checks", check)) === null) return;
    await ctx.db.insert("results", { check, at, status });
  },
});
