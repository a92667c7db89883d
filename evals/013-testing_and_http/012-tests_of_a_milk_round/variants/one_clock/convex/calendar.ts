import { ConvexError } from "convex/values";
import type { QueryCtx } from "./_generated/server";

const HALF_DAY = 43_200_000;

export function fail(code: string): never {
  throw new ConvexError({ code });
}

export async function me(ctx: QueryCtx) {
  return (await ctx.auth.getUserIdentity())?.subject ?? fail("UNAUTHENTICATED");
}

export async function boss(ctx: QueryCtx) {
  await me(ctx);
  if ((await ctx.auth.getUserIdentity())?.role !== "staff") fail("FORBIDDEN");
}

/** Days since 1970, or null. */
export function dayNumber(text: string) {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year, month, day] = parts;
  const lengths = [31, year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28, 31, 30, 31, 30];
  lengths.push(31, 31, 30, 31, 30, 31);
  if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1]) return null;
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  return Math.round(time.getTime() / (2 * HALF_DAY));
}

export function day(text: string) {
  return dayNumber(text) ?? fail("INVALID");
}

export function text(number: number) {
  return new Date(number * 2 * HALF_DAY).toISOString().slice(0, 10);
}

export function deadline(number: number) {
  return (number - 1) * 2 * HALF_DAY + 1.5 * HALF_DAY;
}

export function open(date: string) {
  return Date.now() < deadline(day(date));
}

/** The 06:00 or 18:00 after a time. */
export function nextBell(time: number) {
  return (Math.floor(time / HALF_DAY - 0.5) + 1.5) * HALF_DAY;
}

export function morning(time: number) {
  return Math.floor(time / (2 * HALF_DAY));
}

export async function household(ctx: QueryCtx, subject: string) {
  const all = await ctx.db.query("households").collect();
  return all.find((each) => each.subject === subject) ?? null;
}
