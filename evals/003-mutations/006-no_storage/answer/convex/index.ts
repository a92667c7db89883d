import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, internalMutation, query } from "./_generated/server";

export const saveReport = action({
  args: { folderId: v.id("folders"), title: v.string(), text: v.string() },
  handler: async (ctx, { folderId, title, text }): Promise<Id<"reports">> => {
    const file = new Blob([text], { type: "text/plain" });
    const storageId = await ctx.storage.store(file);
    const report = { folderId, title, storageId, size: file.size };
    try {
      return await ctx.runMutation(internal.index.insertReport, report);
    } catch (error) {
      // Stored files are no part of the transaction that failed.
      await ctx.storage.delete(storageId);
      throw error;
    }
  },
});

export const insertReport = internalMutation({
  args: {
    folderId: v.id("folders"),
    title: v.string(),
    storageId: v.id("_storage"),
    size: v.number(),
  },
  handler: async (ctx, args) => {
    if ((await ctx.db.get("folders", args.folderId)) === null) {
      throw new Error(`There is no folder ${args.folderId}`);
    }
    return await ctx.db.insert("reports", args);
  },
});

export const getReport = query({
  args: { reportId: v.id("reports") },
  handler: async (ctx, args) => {
    const report = await ctx.db.get("reports", args.reportId);
    if (report === null) {
      return null;
    }
    const { title, size, storageId } = report;
    return { title, size, url: await ctx.storage.getUrl(storageId) };
  },
});
