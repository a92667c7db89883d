import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const generateUploadUrl = mutation({
  args: {},
  handler: async (ctx) => {
    return await ctx.storage.generateUploadUrl();
  },
});

export const save = mutation({
  args: { name: v.string(), storageId: v.id("_storage") },
  handler: async (ctx, { name, storageId }) => {
    if ((await ctx.db.system.get("_storage", storageId)) === null) {
      throw new Error(`There is no stored file ${storageId}`);
    }
    return await ctx.db.insert("documents", { name, storageId });
  },
});

export const get = query({
  args: { documentId: v.id("documents") },
  handler: async (ctx, { documentId }) => {
    const document = await ctx.db.get("documents", documentId);
    if (document === null) {
      return null;
    }
    const { name, storageId } = document;
    const [url, file] = await Promise.all([
      ctx.storage.getUrl(storageId),
      ctx.db.system.get("_storage", storageId),
    ]);
    return {
      name,
      url,
      size: file?.size ?? null,
      contentType: file?.contentType ?? null,
    };
  },
});

export const remove = mutation({
  args: { documentId: v.id("documents") },
  handler: async (ctx, { documentId }) => {
    const document = await ctx.db.get("documents", documentId);
    if (document === null) {
      throw new Error(`There is no document ${documentId}`);
    }
    const { storageId } = document;
    // Deleting a file that is gone already would be an error.
    if ((await ctx.db.system.get("_storage", storageId)) !== null) {
      await ctx.storage.delete(storageId);
    }
    await ctx.db.delete("documents", documentId);
    return null;
  },
});
