import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { MINUTE } from "./dates";
import { timetableOf } from "./occurrences";

const HORIZON_DAYS = 3000;

export async function pauseOf(ctx: QueryCtx) {
  return await ctx.db.query("pauses").first();
}

async function remindedOf(ctx: QueryCtx, seriesId: Id<"series">) {
  const reminded = await ctx.db
    .query("reminded")
    .withIndex("by_series_and_date", (q) => q.eq("seriesId", seriesId))
    .collect();
  return new Set(reminded.map(({ date }) => date));
}

/** Writes the reminders whose moments have come since the last time, of occurrences that end after a moment. */
export async function catchUp(ctx: MutationCtx, series: Doc<"series">, endAfter = -Infinity) {
  const now = Date.now();
  if (series.remind !== null) {
    const ahead = series.remind * MINUTE;
    const { starting } = await timetableOf(ctx, series);
    const reminded = await remindedOf(ctx, series._id);
    for (const { date, start, end } of starting(series.seen + ahead, now + ahead)) {
      if (reminded.has(date) || end <= endAfter) continue;
      await ctx.db.insert("reminders", { seriesId: series._id, date, at: start - ahead });
      await ctx.db.insert("reminded", { seriesId: series._id, date });
    }
  }
  await ctx.db.patch("series", series._id, { seen: now });
}

/** Plans the next reminder of a series, instead of what was planned before. */
export async function plan(ctx: MutationCtx, seriesId: Id<"series">) {
  const series = await ctx.db.get("series", seriesId);
  if (series === null) return;
  if (series.job !== null) await ctx.scheduler.cancel(series.job);
  let job: Id<"_scheduled_functions"> | null = null;
  if (series.remind !== null && (await pauseOf(ctx)) === null) {
    const ahead = series.remind * MINUTE;
    const reminded = await remindedOf(ctx, seriesId);
    const { next } = await timetableOf(ctx, series);
    const found = next(Math.max(series.seen, Date.now()) + ahead, HORIZON_DAYS, (date) => reminded.has(date));
    if (found !== null) job = await ctx.scheduler.runAt(found.start - ahead, internal.reminding.remind, { seriesId });
  }
  await ctx.db.patch("series", seriesId, { job });
}

export const remind = internalMutation({
  args: { seriesId: v.id("series") },
  returns: v.null(),
  handler: async (ctx, { seriesId }) => {
    const series = await ctx.db.get("series", seriesId);
    if (series === null || (await pauseOf(ctx)) !== null) return null;
    await ctx.db.patch("series", seriesId, { job: null });
    await catchUp(ctx, series);
    await plan(ctx, seriesId);
    return null;
  },
});

/** Lets something change about a series: what was due before is written first, and what is due after is planned. */
export async function changing(ctx: MutationCtx, series: Doc<"series">, change: () => Promise<void>) {
  const isPaused = (await pauseOf(ctx)) !== null;
  if (!isPaused) await catchUp(ctx, series);
  await change();
  await plan(ctx, series._id);
}
