import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

type Reservation = Doc<"reservations">;
export type Times = { start: number; end: number };

const HOLD_MS = 10 * 60 * 1000;
export const LONGEST_MS = 24 * 60 * 60 * 1000;

export function refuse(code: string): never {
  throw new ConvexError({ code });
}

export function checkTimes({ start, end }: Times): void {
  if (!(start < end && end - start <= LONGEST_MS)) {
    refuse("INVALID");
  }
  if (start <= Date.now()) {
    refuse("PAST");
  }
}

export async function requireOwn(
  ctx: QueryCtx,
  user: string,
  text: string,
): Promise<Reservation> {
  const id = ctx.db.normalizeId("reservations", text);
  const found = id === null ? null : await ctx.db.get("reservations", id);
  if (found === null) {
    refuse("NOT_FOUND");
  }
  if (found.user !== user) {
    refuse("NOT_YOURS");
  }
  return found;
}

/** Held and booked reservations that overlap the time, ordered by start. */
export async function overlapping(
  ctx: QueryCtx,
  room: string,
  { start, end }: Times,
): Promise<Reservation[]> {
  const near = await ctx.db
    .query("reservations")
    .withIndex("by_room_and_active_and_start", (q) =>
      q
        .eq("room", room)
        .eq("active", true)
        .gt("start", start - LONGEST_MS)
        .lt("start", end),
    )
    .collect();
  return near.filter((each) => each.end > start);
}

export async function isFree(
  ctx: QueryCtx,
  room: string,
  times: Times,
  except?: Id<"reservations">,
): Promise<boolean> {
  const found = await overlapping(ctx, room, times);
  return found.every(({ _id }) => _id === except);
}

export async function startHold(
  ctx: MutationCtx,
  id: Id<"reservations">,
): Promise<void> {
  const expiresAt = Date.now() + HOLD_MS;
  await ctx.db.patch("reservations", id, {
    status: "held",
    active: true,
    expiresAt,
  });
  await ctx.scheduler.runAt(expiresAt, internal.timers.expire, {
    id,
    expiresAt,
  });
}

/** Looks at everybody who waits for the room, in order. */
export async function promoteWaiting(
  ctx: MutationCtx,
  room: string,
): Promise<void> {
  const waiting = await waitingFor(ctx, room);
  for (const each of waiting) {
    if (each.start > Date.now() && (await isFree(ctx, room, each))) {
      await startHold(ctx, each._id);
    }
  }
}

export async function waitingFor(
  ctx: QueryCtx,
  room: string,
): Promise<Reservation[]> {
  return await ctx.db
    .query("reservations")
    .withIndex("by_room_and_status", (q) =>
      q.eq("room", room).eq("status", "waiting"),
    )
    .collect();
}
