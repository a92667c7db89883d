import { v } from "convex/values";
import { mutation, query, type QueryCtx } from "./_generated/server";

async function isRoomFree(ctx: QueryCtx, room: string, start: number, end: number): Promise<boolean> {
  const bookings = await ctx.db
    .query("bookings")
    .withIndex("by_room", (q) => q.eq("room", room))
    .collect();
  return bookings.every((booking) => booking.end <= start || booking.start >= end);
}

export const isFree = query({
  args: { room: v.string(), start: v.number(), end: v.number() },
  handler: async (ctx, args) => {
    return await isRoomFree(ctx, args.room, args.start, args.end);
  },
});

export const book = mutation({
  args: { room: v.string(), start: v.number(), end: v.number() },
  handler: async (ctx, args) => {
    const free = await isRoomFree(ctx, args.room, args.start, args.end);
    if (free) {
      await ctx.db.insert("bookings", args);
    }
    return free;
  },
});
