import { v } from "convex/values";
import {
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

export const save = internalMutation({
  args: { name: v.string(), storageId: v.id("_storage") },
  handler: async (ctx, { name, storageId }) => {
    const old = await fileNamed(ctx, name);
    if (old === null) {
      await ctx.db.insert("files", { name, storageId });
      return null;
    }
    await ctx.db.patch("files", old._id, { storageId });
    if ((await ctx.db.system.get("_storage", old.storageId)) !== null) {
      await ctx.storage.delete(old.storageId);
    }
    return null;
  },
});

export const find = internalQuery({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const file = await fileNamed(ctx, name);
    return file?.storageId ?? null;
  },
});

async function fileNamed(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("files")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}
