import { query } from "./_generated/server";

/** Who asks, and how much they have written; null for visitors who have not signed in. */
export const me = query({
  args: {},
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    if (identity === null) return null;
    const name = identity.name ?? identity.subject;
    const written = await ctx.db
      .query("messages")
      .withIndex("by_author", (q) => q.eq("author", name))
      .collect();
    return { name, messages: written.length };
  },
});
