import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";
import { shorten } from "./lib/text";

export const list = query({
  args: { author: v.string() },
  handler: async (ctx, args) => {
    const found = await ctx.db
      .query("messages")
      .withIndex("by_author", (q) => q.eq("author", args.author))
      .collect();
    return found.map((message) => shorten(message.body));
  },
});

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await ctx.db.query("messages").order("desc").paginate(args.paginationOpts),
});

export const send = mutation({
  args: { author: v.string(), body: v.string() },
  returns: v.id("messages"),
  handler: async (ctx, args) => await ctx.db.insert("messages", args),
});

export const clear = internalMutation({
  args: {},
  handler: async (ctx) => {
    for await (const message of ctx.db.query("messages")) {
      await ctx.db.delete(message._id);
    }
  },
});
