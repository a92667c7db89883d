import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internal } from "./_generated/api";
import { action, internalMutation, mutation, query } from "./_generated/server";

const file = v.string();
const idOf = (text: string) => text as Id<"_storage">;

export const uploadUrl = mutation({ args: {}, handler: async (ctx) => await ctx.storage.generateUploadUrl() });

export const url = query({ args: { file }, handler: async (ctx, args) => await ctx.storage.getUrl(idOf(args.file)) });

export const row = query({ args: { file }, handler: async (ctx, args) => await ctx.db.system.get(idOf(args.file)) });

export const metadata = query({
  args: { file },
  handler: async (ctx, args) => await (ctx.storage as any).getMetadata(args.file),
});

export const store = action({
  args: { text: v.string(), type: v.optional(v.string()) },
  handler: async (ctx, args) => await ctx.storage.store(new Blob([args.text], { type: args.type ?? "" })),
});

export const read = action({
  args: { file },
  handler: async (ctx, args) => {
    const blob = await ctx.storage.get(idOf(args.file));
    return blob === null ? null : { text: await blob.text(), type: blob.type, size: blob.size };
  },
});

export const storeText = action({ args: {}, handler: async (ctx) => await ctx.storage.store("text" as never) });

export const remove = mutation({
  args: { file },
  handler: async (ctx, args) => {
    await ctx.storage.delete(idOf(args.file));
  },
});

export const removeThenThrow = mutation({
  args: { file },
  handler: async (ctx, args) => {
    await ctx.storage.delete(idOf(args.file));
    throw new Error("keep it");
  },
});

export const addDocument = mutation({ args: {}, handler: async (ctx) => await ctx.db.insert("files_documents", { name: "d" }) });

export const nothing = internalMutation({ args: {}, handler: async () => {} });

export const refer = mutation({
  args: { file: v.id("_storage") },
  handler: async (ctx, args) => {
    const job = await ctx.scheduler.runAfter(3_600_000, internal.files.nothing, {});
    const id = await ctx.db.insert("files_references", { file: args.file, job });
    await ctx.scheduler.cancel(job);
    return await ctx.db.get(id);
  },
});
