import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  type MutationCtx,
} from "./_generated/server";

/** What moving one more row, and going on later, may take at most. */
const LARGEST_ROW = {
  documentsRead: 2,
  bytesRead: 2 * 1024 * 1024,
  databaseQueries: 2,
  documentsWritten: 2,
  bytesWritten: 1024 * 1024,
  functionsScheduled: 41,
  scheduledFunctionArgsBytes: 41 * 1024,
};

export const start = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await ctx.scheduler.runAfter(0, internal.archive.moveRows, {});
    return null;
  },
});

export const moveRows = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    for await (const row of ctx.db.query("inbox")) {
      await moveRow(ctx, row);
      if (!(await hasRoom(ctx))) {
        await ctx.scheduler.runAfter(0, internal.archive.moveRows, {});
        break;
      }
    }
    return null;
  },
});

export const remind = internalMutation({
  args: { archiveId: v.id("archive") },
  returns: v.null(),
  handler: async (ctx, { archiveId }) => {
    await ctx.db.insert("reminders", { archiveId });
    return null;
  },
});

async function moveRow(
  ctx: MutationCtx,
  { _id, body, remindAt }: Doc<"inbox">,
): Promise<void> {
  const archiveId = await ctx.db.insert("archive", { body });
  for (const time of remindAt) {
    await ctx.scheduler.runAt(time, internal.archive.remind, { archiveId });
  }
  await ctx.db.delete("inbox", _id);
}

async function hasRoom(ctx: MutationCtx): Promise<boolean> {
  const metrics = await ctx.meta.getTransactionMetrics();
  return Object.entries(LARGEST_ROW).every(
    ([name, needed]) =>
      metrics[name as keyof typeof LARGEST_ROW].remaining >= needed,
  );
}
