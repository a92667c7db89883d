import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const BATCH = 100;

export const start = mutation({
  args: { workspace: v.string() },
  handler: async (ctx, { workspace }) => {
    const erasure = await findErasure(ctx, workspace);
    if (erasure?.state === "running") return null;
    if (erasure?.state === "canceled") {
      await ctx.db.patch("erasures", erasure._id, { state: "running" });
      await scheduleBatch(ctx, erasure._id);
      return null;
    }
    if (erasure !== null) await ctx.db.delete("erasures", erasure._id);
    const erasureId = await ctx.db.insert("erasures", {
      workspace,
      state: "running",
      deleted: 0,
    });
    await scheduleBatch(ctx, erasureId);
    return null;
  },
});

export const cancel = mutation({
  args: { workspace: v.string() },
  handler: async (ctx, { workspace }) => {
    const erasure = await findErasure(ctx, workspace);
    if (erasure?.state !== "running") return null;
    await ctx.db.patch("erasures", erasure._id, { state: "canceled" });
    if (erasure.batchId) await ctx.scheduler.cancel(erasure.batchId);
    return null;
  },
});

export const progress = query({
  args: { workspace: v.string() },
  handler: async (ctx, { workspace }) => {
    const erasure = await findErasure(ctx, workspace);
    return erasure && { state: erasure.state, deleted: erasure.deleted };
  },
});

export const deleteBatch = internalMutation({
  args: { erasureId: v.id("erasures") },
  handler: async (ctx, { erasureId }) => {
    const erasure = await ctx.db.get("erasures", erasureId);
    if (erasure?.state !== "running") return;
    const count = await deleteSome(ctx, erasure.workspace);
    await ctx.db.patch("erasures", erasureId, {
      deleted: erasure.deleted + count,
      state: count < BATCH ? "done" : "running",
    });
    if (count === BATCH) await scheduleBatch(ctx, erasureId);
  },
});

/** Deletes up to a batch of comments and notes, each note after its comments, and returns how many it deleted. */
async function deleteSome(
  ctx: MutationCtx,
  workspace: string,
): Promise<number> {
  let count = 0;
  while (count < BATCH) {
    const note = await ctx.db
      .query("notes")
      .withIndex("by_workspace", (q) => q.eq("workspace", workspace))
      .first();
    if (note === null) return count;
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_note", (q) => q.eq("noteId", note._id))
      .take(BATCH - count);
    for (const { _id } of comments) await ctx.db.delete("comments", _id);
    count += comments.length;
    if (count < BATCH) {
      await ctx.db.delete("notes", note._id);
      count += 1;
    }
  }
  return count;
}

async function scheduleBatch(
  ctx: MutationCtx,
  erasureId: Id<"erasures">,
): Promise<void> {
  const batchId = await ctx.scheduler.runAfter(
    0,
    internal.erasure.deleteBatch,
    { erasureId },
  );
  await ctx.db.patch("erasures", erasureId, { batchId });
}

export async function findErasure(ctx: QueryCtx, workspace: string) {
  return await ctx.db
    .query("erasures")
    .withIndex("by_workspace", (q) => q.eq("workspace", workspace))
    .unique();
}
