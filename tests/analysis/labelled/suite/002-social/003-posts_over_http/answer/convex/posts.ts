import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const add = internalMutation({
  args: { author: v.string(), text: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("posts", args);
  },
});

export const list = internalQuery({
  args: {},
  handler: async (ctx) => {
    const posts = await ctx.db.query("posts").order("desc").collect();
    return posts.map((post) => ({ author: post.author, text: post.text }));
  },
});
