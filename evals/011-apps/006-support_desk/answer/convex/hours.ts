/** Working hours: from 09:00 to 17:00 UTC, from Monday to Friday, except on holidays. */

export const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function isDay(date: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return false;
  const time = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(time) && dayOf(time) === date;
}

function isWorkingDay(midnight: number, holidays: ReadonlySet<string>): boolean {
  const weekday = new Date(midnight).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.has(dayOf(midnight));
}

/** The working time between two moments. */
export function workedBetween(from: number, to: number, holidays: ReadonlySet<string>): number {
  let worked = 0;
  for (let midnight = from - (from % DAY); midnight < to; midnight += DAY) {
    if (!isWorkingDay(midnight, holidays)) continue;
    const start = Math.max(from, midnight + 9 * HOUR);
    const end = Math.min(to, midnight + 17 * HOUR);
    worked += Math.max(0, end - start);
  }
  return worked;
}

/** The earliest moment at which so much working time has passed. */
export function afterWorking(from: number, duration: number, holidays: ReadonlySet<string>): number {
  let left = duration;
  for (let midnight = from - (from % DAY); left > 0; midnight += DAY) {
    if (!isWorkingDay(midnight, holidays)) continue;
    const start = Math.max(from, midnight + 9 * HOUR);
    const available = midnight + 17 * HOUR - start;
    if (available >= left) return start + left;
    left -= Math.max(0, available);
  }
  return from;
}
