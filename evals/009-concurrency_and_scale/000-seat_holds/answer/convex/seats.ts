import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
} from "./_generated/server";

const HOLD_MS = 10 * 60 * 1000;
const named = { show: v.string(), seats: v.array(v.string()) };

export const open = mutation({
  args: named,
  handler: async (ctx, { show, seats }) => {
    const last = await ctx.db
      .query("seats")
      .withIndex("by_position", (q) => q.eq("show", show))
      .order("desc")
      .first();
    let position = last === null ? 0 : last.position + 1;
    for (const seat of seats) {
      await ctx.db.insert("seats", {
        show,
        seat,
        position,
        state: "free",
        customer: null,
        until: 0,
      });
      position += 1;
    }
    await serveLine(ctx, show);
    return null;
  },
});

export const hold = mutation({
  args: { ...named, customer: v.string() },
  handler: async (ctx, { show, seats, customer }) => {
    const wanted = await findSeats(ctx, show, seats);
    const taken = wanted.filter(
      (seat) => seat.state !== "free" && !isHeldBy(seat, customer),
    );
    if (taken.length > 0) {
      throw new ConvexError({
        code: "TAKEN",
        seats: taken.map(({ seat }) => seat),
      });
    }
    return await give(ctx, wanted, customer);
  },
});

export const buy = mutation({
  args: { ...named, customer: v.string() },
  handler: async (ctx, { show, seats, customer }) => {
    const wanted = await findSeats(ctx, show, seats, "NOT_HELD");
    if (!wanted.every((seat) => isHeldBy(seat, customer))) {
      throw new ConvexError({ code: "NOT_HELD" });
    }
    for (const { _id } of wanted) {
      await ctx.db.patch("seats", _id, { state: "sold" });
    }
    return null;
  },
});

export const release = mutation({
  args: { ...named, customer: v.string() },
  handler: async (ctx, { show, seats, customer }) => {
    for (const name of new Set(seats)) {
      const seat = await findSeat(ctx, show, name);
      if (seat !== null && isHeldBy(seat, customer)) {
        await free(ctx, seat._id);
      }
    }
    await serveLine(ctx, show);
    return null;
  },
});

export const wait = mutation({
  args: { show: v.string(), count: v.number(), customer: v.string() },
  handler: async (ctx, { show, count, customer }) => {
    await ctx.db.insert("waiting", { show, count, customer });
    await serveLine(ctx, show);
    return null;
  },
});

export const map = query({
  args: { show: v.string() },
  handler: async (ctx, { show }) => {
    const seats = await ctx.db
      .query("seats")
      .withIndex("by_position", (q) => q.eq("show", show))
      .collect();
    return seats.map(({ seat, state }) => ({ seat, state }));
  },
});

export const heldBy = query({
  args: { show: v.string(), customer: v.string() },
  handler: async (ctx, { show, customer }) => {
    const seats = await ctx.db
      .query("seats")
      .withIndex("by_customer", (q) =>
        q.eq("show", show).eq("customer", customer).eq("state", "held"),
      )
      .collect();
    return seats.map(({ seat, until }) => ({ seat, until }));
  },
});

export const expire = internalMutation({
  args: { show: v.string(), until: v.number() },
  handler: async (ctx, { show, until }) => {
    // Holds of several customers may end at the same moment. Those that were bought, released or renewed are not found.
    const ended = await ctx.db
      .query("seats")
      .withIndex("by_until", (q) =>
        q.eq("show", show).eq("state", "held").lte("until", until),
      )
      .collect();
    for (const { _id } of ended) {
      await free(ctx, _id);
    }
    await serveLine(ctx, show);
    return null;
  },
});

async function serveLine(ctx: MutationCtx, show: string): Promise<void> {
  for (;;) {
    const first = await ctx.db
      .query("waiting")
      .withIndex("by_show", (q) => q.eq("show", show))
      .first();
    if (first === null) return;
    const seats = await ctx.db
      .query("seats")
      .withIndex("by_state", (q) => q.eq("show", show).eq("state", "free"))
      .take(first.count);
    if (seats.length < first.count) return;
    await ctx.db.delete("waiting", first._id);
    await give(ctx, seats, first.customer);
  }
}

async function give(
  ctx: MutationCtx,
  seats: Doc<"seats">[],
  customer: string,
): Promise<number> {
  const until = Date.now() + HOLD_MS;
  for (const { _id } of seats) {
    await ctx.db.patch("seats", _id, { state: "held", customer, until });
  }
  const show = seats[0]?.show ?? "";
  await ctx.scheduler.runAt(until, internal.seats.expire, { show, until });
  return until;
}

async function free(ctx: MutationCtx, seatId: Id<"seats">): Promise<void> {
  const nobody = { state: "free", customer: null, until: 0 } as const;
  await ctx.db.patch("seats", seatId, nobody);
}

function isHeldBy(seat: Doc<"seats">, customer: string): boolean {
  return (
    seat.state === "held" &&
    seat.customer === customer &&
    seat.until > Date.now()
  );
}

async function findSeats(
  ctx: MutationCtx,
  show: string,
  names: string[],
  code = "UNKNOWN_SEAT",
): Promise<Doc<"seats">[]> {
  const seats: Doc<"seats">[] = [];
  for (const name of new Set(names)) {
    const seat = await findSeat(ctx, show, name);
    if (seat === null) throw new ConvexError({ code });
    seats.push(seat);
  }
  return seats;
}

async function findSeat(ctx: MutationCtx, show: string, seat: string) {
  return await ctx.db
    .query("seats")
    .withIndex("by_seat", (q) => q.eq("show", show).eq("seat", seat))
    .unique();
}
