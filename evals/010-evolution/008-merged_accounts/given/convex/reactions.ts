import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { actor, taskFor } from "./lib/access";
import { liveComment } from "./lib/trash";

async function count(ctx: MutationCtx, comment: Doc<"comments">, emoji: string, change: 1 | -1): Promise<void> {
  const { [emoji]: before = 0, ...others } = comment.reactions;
  const reactions = before + change === 0 ? others : { ...others, [emoji]: before + change };
  await ctx.db.patch("comments", comment._id, { reactions });
}

/** Adds the reaction, or takes it back if the actor has already reacted in this way. */
export const toggle = mutation({
  args: { actorId: v.id("members"), commentId: v.id("comments"), emoji: v.string() },
  handler: async (ctx, { actorId, commentId, emoji }) => {
    const acting = await actor(ctx, actorId);
    const comment = await liveComment(ctx, commentId);
    await taskFor(ctx, acting, comment.taskId, "read");
    const reaction = await ctx.db
      .query("reactions")
      .withIndex("by_comment", (q) => q.eq("commentId", commentId).eq("memberId", actorId).eq("emoji", emoji))
      .unique();
    if (reaction === null) await ctx.db.insert("reactions", { commentId, memberId: actorId, emoji });
    else await ctx.db.delete("reactions", reaction._id);
    await count(ctx, comment, emoji, reaction === null ? 1 : -1);
    return null;
  },
});
