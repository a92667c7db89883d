import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

function daysAfter(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

export const addEvent = mutation({
  args: { title: v.string(), day: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("events", args);
  },
});

export const eventsOfWeek = query({
  args: { day: v.string() },
  handler: async (ctx, args) => {
    const weekday = (new Date(`${args.day}T00:00:00Z`).getUTCDay() + 6) % 7;
    const first = daysAfter(args.day, -weekday);
    const last = daysAfter(first, 6);
    const events = await ctx.db
      .query("events")
      .withIndex("by_day", (q) => q.gte("day", first).lte("day", last))
      .collect();
    return events.map((event) => event.title);
  },
});
