import { ConvexError, v } from "convex/values";
import { mutation, query, type QueryCtx } from "./_generated/server";

async function signedInUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw new ConvexError("Nobody is signed in");
  return identity.subject;
}

/** All notices, oldest first. Everybody may read them. */
export const list = query({
  args: {},
  handler: async (ctx) => {
    const notices = await ctx.db.query("notices").collect();
    return notices.map(({ _id, title, likes }) => ({ id: _id, title, likes }));
  },
});

/** How many notices and likes there are. Everybody may know. */
export const totals = query({
  args: {},
  handler: async (ctx) => {
    const notices = await ctx.db.query("notices").collect();
    return { notices: notices.length, likes: notices.reduce((sum, { likes }) => sum + likes, 0n) };
  },
});

/** The user who is signed in, with the number of notices that this user has posted. Fails if nobody is signed in. */
export const me = query({
  args: {},
  handler: async (ctx) => {
    const name = await signedInUser(ctx);
    const posted = await ctx.db
      .query("notices")
      .withIndex("by_author", (q) => q.eq("author", name))
      .collect();
    return { name, posted: posted.length };
  },
});

/** Everybody may like a notice, as often as they like. */
export const like = mutation({
  args: { noticeId: v.id("notices") },
  handler: async (ctx, { noticeId }) => {
    const notice = await ctx.db.get("notices", noticeId);
    if (notice === null) throw new ConvexError("This notice has been removed");
    await ctx.db.patch("notices", noticeId, { likes: notice.likes + 1n });
  },
});
