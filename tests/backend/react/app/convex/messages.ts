import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";

export const count = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("messages").collect()).length,
});

export const newest = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: (ctx, { paginationOpts }) => ctx.db.query("messages").order("desc").paginate(paginationOpts),
});

export const send = mutation({
  args: { body: v.string() },
  handler: async (ctx, { body }) => {
    if (body.includes("spam")) throw new ConvexError("No advertisements, please.");
    const identity = await ctx.auth.getUserIdentity();
    await ctx.db.insert("messages", { body, author: identity?.name ?? "a visitor", likes: 0 });
  },
});

export const like = mutation({
  args: { id: v.id("messages") },
  handler: async (ctx, { id }) => {
    const message = await ctx.db.get(id);
    if (message !== null) await ctx.db.patch(id, { likes: message.likes + 1 });
  },
});

export const remove = mutation({
  args: { id: v.id("messages") },
  handler: (ctx, { id }) => ctx.db.delete(id),
});

export const fill = internalMutation({
  args: { messages: v.number() },
  handler: async (ctx, { messages }) => {
    for (let number = 1; number <= messages; number++) {
      await ctx.db.insert("messages", { body: `message ${number}`, author: "the house", likes: 0 });
    }
  },
});
