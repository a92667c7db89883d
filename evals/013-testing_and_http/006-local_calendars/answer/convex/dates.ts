import type { Infer } from "convex/values";
import type { rule as ruleValidator } from "./schema";

export type Rule = Infer<typeof ruleValidator>;

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** Days since 1970, or null if there is no such date. */
export function dayOf(date: string) {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return null;
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || dateOf(time / DAY) !== date ? null : time / DAY;
}

export function dateOf(day: number) {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

function weekdayOf(day: number) {
  return (((day + 3) % 7) + 7) % 7;
}

function monthOf(day: number) {
  const date = new Date(day * DAY);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function dayOfMonth(day: number) {
  return new Date(day * DAY).getUTCDate();
}

/** Whether a day, not before the first, fits the rule; ends are left aside. */
export function fits(rule: Rule, first: number, day: number) {
  if (rule.every === "day") return (day - first) % rule.step === 0;
  if (rule.every === "week") {
    const weeks = (day - weekdayOf(day) - (first - weekdayOf(first))) / 7;
    return weeks % rule.step === 0 && rule.days.includes(weekdayOf(day));
  }
  if ((monthOf(day) - monthOf(first)) % rule.step !== 0) return false;
  if ("day" in rule) return dayOfMonth(day) === rule.day;
  if (weekdayOf(day) !== rule.weekday) return false;
  return rule.nth === -1 ? monthOf(day + 7) !== monthOf(day) : Math.ceil(dayOfMonth(day) / 7) === rule.nth;
}

export type Zone = { offset: number; changes: { at: number; offset: number }[] };

/** The moment of a local time, which is given as if it were UTC. */
export function momentOf(zone: Zone, day: number, time: number) {
  const local = day * DAY + time * MINUTE;
  let offset = zone.offset;
  for (const change of zone.changes) {
    const moment = local - offset * MINUTE;
    // Before this change the clocks show it, or jump over it at the change.
    if (moment < change.at) return moment;
    if (local < change.at + change.offset * MINUTE) return moment;
    offset = change.offset;
  }
  return local - offset * MINUTE;
}
