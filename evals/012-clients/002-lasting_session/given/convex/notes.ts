import { ConvexError, v } from "convex/values";
import { mutation, query, type QueryCtx } from "./_generated/server";

async function signedInUser(ctx: QueryCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw new ConvexError("Nobody is signed in");
  return identity.subject;
}

/** The name of the user and the user's notes, oldest first. Fails if nobody is signed in. */
export const mine = query({
  args: {},
  handler: async (ctx) => {
    const owner = await signedInUser(ctx);
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_owner", (q) => q.eq("owner", owner))
      .collect();
    return { owner, notes: notes.map(({ _id, text }) => ({ id: _id, text })) };
  },
});

/** Adds a note of the user. Fails if nobody is signed in. */
export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    await ctx.db.insert("notes", { owner: await signedInUser(ctx), text });
  },
});

/** How many notes there are, of all users. Everybody may know. */
export const count = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("notes").collect()).length,
});
