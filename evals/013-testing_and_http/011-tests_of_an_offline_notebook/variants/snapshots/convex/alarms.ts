import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";

export const DAY = 24 * 3600 * 1000;

export async function ring(ctx: MutationCtx, due: number, what: Doc<"alarms">["what"]) {
  await ctx.db.insert("alarms", { due, what });
  await ctx.scheduler.runAfter(due - Date.now(), internal.alarms.wake, {});
}

async function handle(ctx: MutationCtx, what: Doc<"alarms">["what"]) {
  if ("machine" in what) {
    const machine = await ctx.db.get("machines", what.machine);
    if (machine === null) return;
    if (machine.alive + 20 * DAY <= Date.now()) await ctx.db.delete("machines", machine._id);
    else await ring(ctx, machine.alive + 20 * DAY, what);
    return;
  }
  const thrown = await ctx.db.get("trash", what.trash);
  if (thrown === null) return;
  const changes = await ctx.db
    .query("changes")
    .withIndex("by_text", (q) => q.eq("text", thrown.text))
    .collect();
  for (const { _id } of changes) await ctx.db.delete("changes", _id);
  await ctx.db.delete("texts", thrown.text);
  await ctx.db.delete("trash", thrown._id);
}

export const wake = internalMutation({
  args: {},
  handler: async (ctx) => {
    const due = await ctx.db
      .query("alarms")
      .withIndex("by_due", (q) => q.lte("due", Date.now()))
      .collect();
    for (const { _id, what } of due) {
      await ctx.db.delete("alarms", _id);
      await handle(ctx, what);
    }
  },
});
