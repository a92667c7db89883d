import { v } from "convex/values";
import { action, mutation, query } from "./_generated/server";

export const store = action({
  args: { text: v.string() },
  returns: v.id("_storage"),
  handler: async (ctx, { text }) => await ctx.storage.store(new Blob([text], { type: "text/plain" })),
});

export const read = action({
  args: { id: v.string() },
  handler: async (ctx, { id }) => (await (await ctx.storage.get(id as any))?.text()) ?? null,
});

export const url = query({
  args: { id: v.string() },
  handler: async (ctx, { id }) => await ctx.storage.getUrl(id as any),
});

export const uploadUrl = mutation({
  args: {},
  handler: async (ctx) => await ctx.storage.generateUploadUrl(),
});

export const sizes = query({
  args: {},
  handler: async (ctx) => (await ctx.db.system.query("_storage").collect()).map((file) => file.size),
});
