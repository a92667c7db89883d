const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
// From nine in the morning on the third day before to midnight.
const NOTICE_MS = (3 * 24 - 9) * HOUR_MS;

interface Calendar {
  start: number;
  offset: number;
}

/** When the period with this number begins; the first one is number 0. */
export function beginning({ start, offset }: Calendar, period: number): number {
  if (period === 0) {
    return start;
  }
  // A date whose UTC fields are the local ones.
  const local = new Date(start + offset * MINUTE_MS);
  const year = local.getUTCFullYear();
  const month = local.getUTCMonth() + period;
  // Day 0 of a month is the last one of the month before.
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(local.getUTCDate(), lastDay);
  return Date.UTC(year, month, day) - offset * MINUTE_MS;
}

/** When to remind of the end of the period with this number. */
export function reminderTime(calendar: Calendar, period: number): number {
  return beginning(calendar, period + 1) - NOTICE_MS;
}
