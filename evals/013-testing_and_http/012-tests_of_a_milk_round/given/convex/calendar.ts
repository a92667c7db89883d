export const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;

const MORNING = 6 * HOUR;
const EVENING = 18 * HOUR;

function midnight(date: string) {
  return Date.parse(`${date}T00:00:00Z`);
}

export function dateOf(time: number) {
  return new Date(time).toISOString().slice(0, 10);
}

/** Whether it is a day of the calendar, such as `2028-02-29`. */
export function isDate(text: string) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = midnight(text);
  return !Number.isNaN(time) && dateOf(time) === text;
}

export function addDays(date: string, days: number) {
  return dateOf(midnight(date) + days * DAY);
}

export function today() {
  return dateOf(Date.now());
}

/** From Monday, which is 0. */
export function weekdayOf(date: string) {
  return (new Date(midnight(date)).getUTCDay() + 6) % 7;
}

export function monthOf(date: string) {
  return date.slice(0, 7);
}

export function firstDayOf(month: string) {
  return `${month}-01`;
}

export function lastDayOf(month: string) {
  const monthAfter = monthOf(addDays(firstDayOf(month), 31));
  return addDays(firstDayOf(monthAfter), -1);
}

/** When invoices are made, payments attempted and reminders sent. */
export function morningOf(date: string) {
  return midnight(date) + MORNING;
}

/** When the deliveries of a date are fixed: in the evening before. */
export function cutOffOf(date: string) {
  return midnight(date) - DAY + EVENING;
}

export function isClosed(date: string) {
  return Date.now() >= cutOffOf(date);
}

/** The last date whose deliveries are fixed. */
export function lastClosed() {
  return dateOf(Date.now() + DAY - EVENING);
}

/** The next 06:00 or 18:00. */
export function nextDeadline() {
  const halfDays = Math.floor((Date.now() - MORNING) / (EVENING - MORNING)) + 1;
  return halfDays * (EVENING - MORNING) + MORNING;
}
