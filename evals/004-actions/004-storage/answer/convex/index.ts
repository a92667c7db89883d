import { v } from "convex/values";
import { action } from "./_generated/server";

export const saveText = action({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    return await ctx.storage.store(new Blob([text], { type: "text/plain" }));
  },
});

export const saveBytes = action({
  args: { bytes: v.bytes(), contentType: v.string() },
  handler: async (ctx, { bytes, contentType }) => {
    const storageId = await ctx.storage.store(
      new Blob([bytes], { type: contentType }),
    );
    return { storageId, url: await ctx.storage.getUrl(storageId) };
  },
});

export const read = action({
  args: { storageId: v.id("_storage") },
  handler: async (ctx, { storageId }) => {
    const file = await ctx.storage.get(storageId);
    if (file === null) {
      return null;
    }
    return { text: await file.text(), size: file.size, contentType: file.type };
  },
});

export const append = action({
  args: { storageId: v.id("_storage"), text: v.string() },
  handler: async (ctx, { storageId, text }) => {
    const file = await ctx.storage.get(storageId);
    if (file === null) {
      throw new Error(`There is no stored file ${storageId}`);
    }
    const longer = new Blob([file, text], { type: file.type });
    const longerId = await ctx.storage.store(longer);
    await ctx.storage.delete(storageId);
    return longerId;
  },
});

export const remove = action({
  args: { storageId: v.id("_storage") },
  handler: async (ctx, { storageId }) => {
    // Deleting a file that is gone already would be an error.
    if ((await ctx.storage.getUrl(storageId)) === null) {
      return false;
    }
    await ctx.storage.delete(storageId);
    return true;
  },
});
