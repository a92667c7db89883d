import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { actor, colleague, taskFor } from "./lib/access";
import { log } from "./lib/activity";
import { existing, fail } from "./lib/errors";

async function sheetOf(ctx: QueryCtx, memberId: Id<"members">, month: string) {
  return await ctx.db
    .query("timesheets")
    .withIndex("by_member", (q) => q.eq("memberId", memberId).eq("month", month))
    .unique();
}

/** A sheet exists as long as it has minutes. */
async function addMinutes(ctx: MutationCtx, task: Doc<"tasks">, memberId: Id<"members">, day: string, minutes: number) {
  await ctx.db.patch("tasks", task._id, { minutes: task.minutes + minutes });
  const month = day.slice(0, 7);
  const sheet = await sheetOf(ctx, memberId, month);
  if (sheet?.approvedBy !== undefined) throw fail("APPROVED");
  if (sheet === null) await ctx.db.insert("timesheets", { memberId, month, minutes });
  else if (sheet.minutes + minutes === 0) await ctx.db.delete("timesheets", sheet._id);
  else await ctx.db.patch("timesheets", sheet._id, { minutes: sheet.minutes + minutes });
}

/** Books minutes for a day, like `2026-03-31`. Nothing can be booked in a month that has been approved. */
export const book = mutation({
  args: { actorId: v.id("members"), taskId: v.id("tasks"), day: v.string(), minutes: v.number() },
  handler: async (ctx, { actorId, taskId, day, minutes }) => {
    const acting = await actor(ctx, actorId);
    const task = await taskFor(ctx, acting, taskId, "write");
    if (!Number.isInteger(minutes) || minutes < 1) throw fail("INVALID");
    await addMinutes(ctx, task, actorId, day, minutes);
    const entryId = await ctx.db.insert("timeEntries", { taskId, memberId: actorId, day, minutes });
    await log(ctx, acting, "time.book", task.title);
    return entryId;
  },
});

export const cancel = mutation({
  args: { actorId: v.id("members"), entryId: v.id("timeEntries") },
  handler: async (ctx, { actorId, entryId }) => {
    const acting = await actor(ctx, actorId);
    const entry = existing(await ctx.db.get("timeEntries", entryId));
    if (entry.memberId !== actorId) throw fail("FORBIDDEN");
    const task = existing(await ctx.db.get("tasks", entry.taskId));
    await addMinutes(ctx, task, actorId, entry.day, -entry.minutes);
    await ctx.db.delete("timeEntries", entryId);
    await log(ctx, acting, "time.cancel", task.title);
    return null;
  },
});

/** Nobody approves their own sheet. */
export const approve = mutation({
  args: { actorId: v.id("members"), memberId: v.id("members"), month: v.string() },
  handler: async (ctx, { actorId, memberId, month }) => {
    const acting = await actor(ctx, actorId, "admin");
    const member = await colleague(ctx, acting, memberId);
    const sheet = existing(await sheetOf(ctx, memberId, month));
    if (memberId === actorId) throw fail("FORBIDDEN");
    await ctx.db.patch("timesheets", sheet._id, { approvedBy: actorId });
    await log(ctx, acting, "time.approve", `${member.name}: ${month}`);
    return null;
  },
});

export const sheet = query({
  args: { actorId: v.id("members"), month: v.string() },
  handler: async (ctx, { actorId, month }) => {
    await actor(ctx, actorId);
    const found = await sheetOf(ctx, actorId, month);
    if (found === null) return { minutes: 0, approvedBy: null };
    const approver = found.approvedBy === undefined ? null : await ctx.db.get("members", found.approvedBy);
    return { minutes: found.minutes, approvedBy: approver?.name ?? null };
  },
});
