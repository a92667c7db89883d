import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";
import {
  checkTimes,
  isFree,
  overlapping,
  promoteWaiting,
  refuse,
  requireOwn,
  startHold,
  waitingFor,
} from "./rooms";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const MOST_WEEKS = 52;

const times = { start: v.number(), end: v.number() };
const whose = { user: v.string(), id: v.string() };

export const request = mutation({
  args: { room: v.string(), user: v.string(), ...times, wait: v.boolean() },
  handler: async (ctx, { wait, ...wish }) => {
    checkTimes(wish);
    const free = await isFree(ctx, wish.room, wish);
    if (!free && !wait) {
      refuse("TAKEN");
    }
    const id = await ctx.db.insert("reservations", {
      ...wish,
      status: "waiting",
      active: false,
    });
    if (free) {
      await startHold(ctx, id);
      return { id, status: "held" as const };
    }
    await ctx.scheduler.runAt(wish.start, internal.timers.lapse, { id });
    return { id, status: "waiting" as const };
  },
});

export const bookWeekly = mutation({
  args: { room: v.string(), user: v.string(), ...times, weeks: v.number() },
  handler: async (ctx, { room, user, start, end, weeks }) => {
    if (!Number.isInteger(weeks) || weeks < 1 || weeks > MOST_WEEKS) {
      refuse("INVALID");
    }
    checkTimes({ start, end });
    const series = await ctx.db.insert("series", { weeks });
    const ids: string[] = [];
    for (let week = 0; week < weeks; week++) {
      const shifted = {
        start: start + week * WEEK_MS,
        end: end + week * WEEK_MS,
      };
      if (!(await isFree(ctx, room, shifted))) {
        refuse("TAKEN");
      }
      ids.push(
        await ctx.db.insert("reservations", {
          room,
          user,
          ...shifted,
          status: "booked",
          active: true,
          series,
          week,
        }),
      );
    }
    return ids;
  },
});

export const confirm = mutation({
  args: whose,
  handler: async (ctx, { user, id }) => {
    const own = await requireOwn(ctx, user, id);
    if (own.status !== "held") {
      refuse("NOT_HELD");
    }
    await ctx.db.patch("reservations", own._id, { status: "booked" });
    return null;
  },
});

export const cancel = mutation({
  args: whose,
  handler: async (ctx, { user, id }) => {
    const own = await requireOwn(ctx, user, id);
    if (!own.active && own.status !== "waiting") {
      refuse("OVER");
    }
    await ctx.db.patch("reservations", own._id, {
      status: "cancelled",
      active: false,
    });
    await promoteWaiting(ctx, own.room);
    return null;
  },
});

export const cancelSeries = mutation({
  args: whose,
  handler: async (ctx, { user, id }) => {
    const own = await requireOwn(ctx, user, id);
    const { series, week } = own;
    if (series === undefined || week === undefined) {
      refuse("NO_SERIES");
    }
    const rest = await ctx.db
      .query("reservations")
      .withIndex("by_series_and_week", (q) =>
        q.eq("series", series).gte("week", week),
      )
      .collect();
    const booked = rest.filter(({ status }) => status === "booked");
    for (const { _id } of booked) {
      await ctx.db.patch("reservations", _id, {
        status: "cancelled",
        active: false,
      });
    }
    await promoteWaiting(ctx, own.room);
    return booked.length;
  },
});

export const move = mutation({
  args: { ...whose, ...times },
  handler: async (ctx, { user, id, start, end }) => {
    const own = await requireOwn(ctx, user, id);
    checkTimes({ start, end });
    if (!own.active) {
      refuse("NOT_ACTIVE");
    }
    if (!(await isFree(ctx, own.room, { start, end }, own._id))) {
      refuse("TAKEN");
    }
    await ctx.db.patch("reservations", own._id, { start, end });
    await promoteWaiting(ctx, own.room);
    return null;
  },
});

export const get = query({
  args: { id: v.string() },
  handler: async (ctx, args) => {
    const id = ctx.db.normalizeId("reservations", args.id);
    const found = id === null ? null : await ctx.db.get("reservations", id);
    if (found === null) {
      return null;
    }
    const { room, user, start, end, status } = found;
    return { room, user, start, end, status };
  },
});

export const calendar = query({
  args: { room: v.string(), from: v.number(), to: v.number() },
  handler: async (ctx, { room, from, to }) => {
    const found = await overlapping(ctx, room, { start: from, end: to });
    return found.map(({ _id, user, start, end, status }) => ({
      id: _id,
      user,
      start,
      end,
      status,
    }));
  },
});

export const waiting = query({
  args: { room: v.string() },
  handler: async (ctx, { room }) => {
    return (await waitingFor(ctx, room)).map(({ _id }) => _id);
  },
});
