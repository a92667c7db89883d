import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { DAY, dateOf, dayOf, fits } from "./dates";
import type { Rule } from "./dates";
import { isDateOf, timetableOf } from "./occurrences";
import type { Occurrence } from "./occurrences";
import { catchUp, changing, pauseOf, plan } from "./reminding";
import { changes as changesValidator, series as seriesFields } from "./schema";

const COUNTED_DAYS = 40_000;
const LONGEST = 10_000;
const LONGEST_AGENDA = 62 * DAY;
const FURTHEST_DAYS = 1000;

const occurrence = v.object({
  seriesId: v.id("series"),
  date: v.string(),
  title: v.string(),
  start: v.number(),
  end: v.number(),
});

function failure(code: string) {
  return new ConvexError({ code });
}

function isInteger(value: number, low: number, high = Infinity) {
  return Number.isInteger(value) && value >= low && value <= high;
}

function isTime(time: number) {
  return isInteger(time, 0, 1439);
}

function isDuration(minutes: number) {
  return isInteger(minutes, 1, LONGEST);
}

function isRule(rule: Rule) {
  if (!isInteger(rule.step, 1)) return false;
  if (rule.until !== undefined && (rule.count !== undefined || dayOf(rule.until) === null)) return false;
  if (rule.count !== undefined && !isInteger(rule.count, 1)) return false;
  if (rule.every === "day") return true;
  if (rule.every === "week") {
    const { days } = rule;
    return days.length > 0 && new Set(days).size === days.length && days.every((day) => isInteger(day, 0, 6));
  }
  if ("day" in rule) return isInteger(rule.day, 1, 31);
  return (rule.nth === -1 || isInteger(rule.nth, 1, 4)) && isInteger(rule.weekday, 0, 6);
}

/** The last date of a series, or null if it has none. */
function lastOf(rule: Rule, first: string) {
  if (rule.count === undefined) return rule.until ?? null;
  const start = dayOf(first) ?? 0;
  let rest = rule.count;
  for (let day = start; day < start + COUNTED_DAYS; day += 1) {
    if (fits(rule, start, day)) rest -= 1;
    if (rest === 0) return dateOf(day);
  }
  return null;
}

export const setZone = mutation({
  args: { name: v.string(), offset: v.number(), changes: changesValidator },
  returns: v.null(),
  handler: async (ctx, { name, offset, changes }) => {
    const offsets = [offset, ...changes.map((change) => change.offset)];
    const isSorted = changes.every(({ at }, index) => index === 0 || at > changes[index - 1].at);
    if (!isSorted || !offsets.every((each) => isInteger(each, -720, 840))) throw failure("INVALID");
    const known = await ctx.db
      .query("zones")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    if (known === null) {
      await ctx.db.insert("zones", { name, offset, changes });
      return null;
    }
    const affected = (await ctx.db.query("series").collect()).filter(({ zone }) => zone === name);
    if ((await pauseOf(ctx)) === null) for (const series of affected) await catchUp(ctx, series);
    await ctx.db.patch("zones", known._id, { offset, changes });
    for (const { _id } of affected) await plan(ctx, _id);
    return null;
  },
});

export const create = mutation({
  args: seriesFields,
  returns: v.id("series"),
  handler: async (ctx, args) => {
    const { zone, first, time, minutes, remind, rule } = args;
    const hasReminder = remind === null || isInteger(remind, 0, LONGEST);
    if (dayOf(first) === null || !isTime(time) || !isDuration(minutes) || !hasReminder || !isRule(rule)) {
      throw failure("INVALID");
    }
    const known = await ctx.db
      .query("zones")
      .withIndex("by_name", (q) => q.eq("name", zone))
      .unique();
    if (known === null) throw failure("NO_ZONE");
    const seen = (await pauseOf(ctx))?.at ?? Date.now();
    const seriesId = await ctx.db.insert("series", { ...args, last: lastOf(rule, first), seen, job: null });
    await plan(ctx, seriesId);
    return seriesId;
  },
});

async function seriesWith(ctx: QueryCtx, seriesId: Id<"series">, date: string) {
  const series = await ctx.db.get("series", seriesId);
  if (series === null || !isDateOf(series, date)) throw failure("NO_OCCURRENCE");
  return series;
}

/** Without `to`, the occurrence is as the series says; with null, there is none. */
async function except(
  ctx: MutationCtx,
  seriesId: Id<"series">,
  date: string,
  to?: { date: string; time: number } | null,
) {
  const known = await ctx.db
    .query("exceptions")
    .withIndex("by_series_and_date", (q) => q.eq("seriesId", seriesId).eq("date", date))
    .unique();
  if (known !== null) await ctx.db.delete("exceptions", known._id);
  if (to !== undefined) await ctx.db.insert("exceptions", { seriesId, date, to });
}

const named = { seriesId: v.id("series"), date: v.string() };

export const skip = mutation({
  args: named,
  returns: v.null(),
  handler: async (ctx, { seriesId, date }) => {
    const series = await seriesWith(ctx, seriesId, date);
    await changing(ctx, series, async () => await except(ctx, seriesId, date, null));
    return null;
  },
});

export const move = mutation({
  args: { ...named, toDate: v.string(), toTime: v.number() },
  returns: v.null(),
  handler: async (ctx, { seriesId, date, toDate, toTime }) => {
    const series = await seriesWith(ctx, seriesId, date);
    if (dayOf(toDate) === null || !isTime(toTime)) throw failure("INVALID");
    const to = { date: toDate, time: toTime };
    await changing(ctx, series, async () => await except(ctx, seriesId, date, to));
    return null;
  },
});

export const restore = mutation({
  args: named,
  returns: v.null(),
  handler: async (ctx, { seriesId, date }) => {
    const series = await seriesWith(ctx, seriesId, date);
    await changing(ctx, series, async () => await except(ctx, seriesId, date));
    return null;
  },
});

export const split = mutation({
  args: { ...named, title: v.string(), time: v.number(), minutes: v.number() },
  returns: v.id("series"),
  handler: async (ctx, { seriesId, date, title, time, minutes }) => {
    const series = await seriesWith(ctx, seriesId, date);
    if (!isTime(time) || !isDuration(minutes)) throw failure("INVALID");
    if ((await pauseOf(ctx)) === null) await catchUp(ctx, series);
    const { zone, remind, rule, last } = series;
    const seen = (await pauseOf(ctx))?.at ?? Date.now();
    const later = { title, zone, first: date, time, minutes, remind, rule, last, seen, job: null };
    const newId = await ctx.db.insert("series", later);
    await ctx.db.patch("series", seriesId, { last: dateOf((dayOf(date) ?? 0) - 1) });
    const exceptions = await ctx.db
      .query("exceptions")
      .withIndex("by_series_and_date", (q) => q.eq("seriesId", seriesId).gte("date", date))
      .collect();
    for (const { _id } of exceptions) await ctx.db.patch("exceptions", _id, { seriesId: newId });
    const reminded = await ctx.db
      .query("reminded")
      .withIndex("by_series_and_date", (q) => q.eq("seriesId", seriesId).gte("date", date))
      .collect();
    for (const { _id } of reminded) await ctx.db.patch("reminded", _id, { seriesId: newId });
    await plan(ctx, seriesId);
    await plan(ctx, newId);
    return newId;
  },
});

export const pause = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    if ((await pauseOf(ctx)) !== null) return null;
    for (const series of await ctx.db.query("series").collect()) await catchUp(ctx, series);
    await ctx.db.insert("pauses", { at: Date.now() });
    for (const { _id } of await ctx.db.query("series").collect()) await plan(ctx, _id);
    return null;
  },
});

export const resume = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    const paused = await pauseOf(ctx);
    if (paused === null) return null;
    await ctx.db.delete("pauses", paused._id);
    for (const series of await ctx.db.query("series").collect()) {
      await catchUp(ctx, series, Date.now());
      await plan(ctx, series._id);
    }
    return null;
  },
});

function inOrder(a: Occurrence, b: Occurrence) {
  if (a.start !== b.start) return a.start - b.start;
  return a.title === b.title ? 0 : a.title < b.title ? -1 : 1;
}

export const agenda = query({
  args: { from: v.number(), to: v.number() },
  returns: v.array(occurrence),
  handler: async (ctx, { from, to }) => {
    if (to - from > LONGEST_AGENDA) throw failure("TOO_LONG");
    const found = [];
    for (const series of await ctx.db.query("series").collect()) {
      const { starting } = await timetableOf(ctx, series);
      const around = starting(from - (LONGEST + 1) * 60_000, to);
      found.push(...around.filter(({ start, end }) => start < to && end > from));
    }
    return found.sort(inOrder);
  },
});

export const next = query({
  args: { seriesId: v.id("series"), after: v.number() },
  returns: v.union(occurrence, v.null()),
  handler: async (ctx, { seriesId, after }) => {
    const series = await ctx.db.get("series", seriesId);
    return series === null ? null : (await timetableOf(ctx, series)).next(after, FURTHEST_DAYS);
  },
});

export const reminders = query({
  args: { seriesId: v.id("series") },
  returns: v.array(v.object({ date: v.string(), at: v.number() })),
  handler: async (ctx, { seriesId }) => {
    const found = await ctx.db
      .query("reminders")
      .withIndex("by_series", (q) => q.eq("seriesId", seriesId))
      .collect();
    return found.map(({ date, at }) => ({ date, at }));
  },
});
