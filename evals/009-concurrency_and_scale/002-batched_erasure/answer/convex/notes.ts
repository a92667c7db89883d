import { ConvexError, v } from "convex/values";
import { mutation, type MutationCtx } from "./_generated/server";
import { findErasure } from "./erasure";

export const addNote = mutation({
  args: { workspace: v.string(), text: v.string() },
  handler: async (ctx, { workspace, text }) => {
    await requireNoErasure(ctx, workspace);
    return await ctx.db.insert("notes", { workspace, text });
  },
});

export const addComment = mutation({
  args: { noteId: v.id("notes"), text: v.string() },
  handler: async (ctx, { noteId, text }) => {
    const note = await ctx.db.get("notes", noteId);
    if (note === null) throw new ConvexError({ code: "NO_NOTE" });
    await requireNoErasure(ctx, note.workspace);
    return await ctx.db.insert("comments", { noteId, text });
  },
});

async function requireNoErasure(
  ctx: MutationCtx,
  workspace: string,
): Promise<void> {
  const erasure = await findErasure(ctx, workspace);
  if (erasure !== null && erasure.state !== "done") {
    throw new ConvexError({ code: "BEING_ERASED" });
  }
}
