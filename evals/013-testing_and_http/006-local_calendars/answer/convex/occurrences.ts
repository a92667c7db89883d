import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import { DAY, MINUTE, dateOf, dayOf, fits, momentOf } from "./dates";

export type Occurrence = { seriesId: Id<"series">; date: string; title: string; start: number; end: number };

export function isDateOf(series: Doc<"series">, date: string) {
  const day = dayOf(date);
  if (day === null || date < series.first || (series.last !== null && date > series.last)) return false;
  return fits(series.rule, dayOf(series.first) ?? 0, day);
}

/** Of one series, with everything that is needed to say when its occurrences are. */
export async function timetableOf(ctx: QueryCtx, series: Doc<"series">) {
  const zone = await ctx.db
    .query("zones")
    .withIndex("by_name", (q) => q.eq("name", series.zone))
    .unique();
  if (zone === null) throw new Error(`There is no zone ${series.zone}.`);
  const exceptions = await ctx.db
    .query("exceptions")
    .withIndex("by_series_and_date", (q) => q.eq("seriesId", series._id))
    .collect();
  const offsets = zone;
  const excepted = new Set(exceptions.map(({ date }) => date));
  const first = dayOf(series.first) ?? 0;
  const last = series.last === null ? Infinity : (dayOf(series.last) ?? 0);

  function occurrence(date: string, start: number): Occurrence {
    return { seriesId: series._id, date, title: series.title, start, end: start + series.minutes * MINUTE };
  }

  const moved = exceptions.flatMap(({ date, to }) =>
    to === null ? [] : [occurrence(date, momentOf(zone, dayOf(to.date) ?? 0, to.time))],
  );

  /** Those as the series says that may start between two moments, in order; some start a little outside. */
  function* regular(from: number, to: number) {
    const end = Math.min(Math.floor(to / DAY) + 1, last);
    for (let day = Math.max(Math.floor(from / DAY) - 1, first); day <= end; day += 1) {
      if (!fits(series.rule, first, day) || excepted.has(dateOf(day))) continue;
      yield occurrence(dateOf(day), momentOf(offsets, day, series.time));
    }
  }

  /** All that start after one moment and not after another. */
  function starting(after: number, until: number) {
    const all = [...moved, ...regular(after, until)];
    return all.filter(({ start }) => start > after && start <= until);
  }

  /** The earliest that starts after a moment, up to so many days later, and is not left out. */
  function next(after: number, days: number, isLeftOut: (date: string) => boolean = () => false) {
    const until = after + days * DAY;
    const candidates = moved.filter(({ start, date }) => start > after && start <= until && !isLeftOut(date));
    for (const each of regular(after, until)) {
      if (each.start <= after || each.start > until || isLeftOut(each.date)) continue;
      candidates.push(each);
      break;
    }
    return candidates.reduce<Occurrence | null>((a, b) => (a === null || b.start < a.start ? b : a), null);
  }

  return { moved, starting, next };
}
