import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { actor, taskFor } from "./lib/access";
import { fail } from "./lib/errors";
import { isLive } from "./lib/trash";

export const MAX_PINS = 6;

export async function pinsOf(ctx: QueryCtx, memberId: Id<"members">): Promise<Doc<"pins">[]> {
  return await ctx.db
    .query("pins")
    .withIndex("by_member", (q) => q.eq("memberId", memberId))
    .collect();
}

/** The pins of a member are at the positions 0, 1, 2 … without gaps, those of deleted tasks included. */
async function number(ctx: MutationCtx, pins: Doc<"pins">[]): Promise<void> {
  for (const [position, pin] of pins.entries()) {
    if (pin.position !== position) await ctx.db.patch("pins", pin._id, { position });
  }
}

/** A member pins a task once, and at most six tasks. */
export const pin = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    await taskFor(ctx, await actor(ctx, actorId), taskId, "read");
    const pins = await pinsOf(ctx, actorId);
    if (pins.some((pin) => pin.taskId === taskId)) return null;
    if (pins.length >= MAX_PINS) throw fail("FULL");
    await ctx.db.insert("pins", { memberId: actorId, taskId, position: pins.length });
    return null;
  },
});

export const unpin = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks") },
  handler: async (ctx, { actorId, taskId }) => {
    await actor(ctx, actorId);
    const pins = await pinsOf(ctx, actorId);
    for (const pin of pins) if (pin.taskId === taskId) await ctx.db.delete("pins", pin._id);
    await number(
      ctx,
      pins.filter((pin) => pin.taskId !== taskId),
    );
    return null;
  },
});

export const list = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    await actor(ctx, actorId);
    const tasks = await Promise.all((await pinsOf(ctx, actorId)).map((pin) => ctx.db.get("tasks", pin.taskId)));
    return tasks.filter((task) => task !== null && isLive(task)).map((task) => task?.title ?? null);
  },
});
