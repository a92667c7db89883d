import { ConvexError } from "convex/values";
import type { QueryCtx } from "./_generated/server";

const HOUR = 3_600_000;

export const refuse = (code: string): never => {
  throw new ConvexError({ code });
};

export async function caller(ctx: QueryCtx, role?: string) {
  const identity = (await ctx.auth.getUserIdentity()) ?? refuse("UNAUTHENTICATED");
  if (role !== undefined && identity.role !== role) refuse("FORBIDDEN");
  return identity.subject;
}

export function at(day: string, hour: number) {
  return new Date(`${day}T00:00:00.000Z`).getTime() + hour * HOUR;
}

export function shift(day: string, days: number) {
  const date = new Date(at(day, 0));
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().substring(0, 10);
}

export function exists(day: string) {
  const match = /^\d\d\d\d-(0[1-9]|1[012])-(\d\d)$/.exec(day);
  if (match === null) return false;
  const number = Number(match[2]);
  return new Date(at(day.slice(0, 8) + "01", (number - 1) * 24)).getUTCDate() === number;
}

export function loadedAt(day: string) {
  return at(shift(day, -1), 18);
}

export function isLoaded(day: string) {
  return loadedAt(day) <= Date.now();
}

export function newYearProof(month: string) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().substring(0, 7);
}

export function halfDayAfter(now: number) {
  const today = new Date(now).toISOString().substring(0, 10);
  const times = [at(today, 6), at(today, 18), at(today, 30)];
  return times.find((time) => time > now) ?? times[2];
}
