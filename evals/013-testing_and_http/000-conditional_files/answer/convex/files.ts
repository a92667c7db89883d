import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

const conditions = {
  ifMatch: v.nullable(v.string()),
  ifNoneMatch: v.nullable(v.string()),
};

export const find = internalQuery({
  args: { name: v.string() },
  handler: async (ctx, { name }) => await findFile(ctx, name),
});

/** Whichever content loses is deleted in the transaction that decides. */
export const put = internalMutation({
  args: {
    ...conditions,
    name: v.string(),
    type: v.string(),
    tag: v.string(),
    storageId: v.id("_storage"),
  },
  handler: async (ctx, { ifMatch, ifNoneMatch, ...file }) => {
    const before = await findFile(ctx, file.name);
    if (!isMet(before, ifMatch) || (ifNoneMatch !== null && before !== null)) {
      await ctx.storage.delete(file.storageId);
      return 412;
    }
    if (before === null) {
      await ctx.db.insert("files", file);
      return 201;
    }
    await ctx.storage.delete(before.storageId);
    await ctx.db.replace("files", before._id, file);
    return 200;
  },
});

export const remove = internalMutation({
  args: { name: v.string(), ifMatch: v.nullable(v.string()) },
  handler: async (ctx, { name, ifMatch }) => {
    const before = await findFile(ctx, name);
    if (!isMet(before, ifMatch)) {
      return 412;
    }
    if (before === null) {
      return 404;
    }
    await ctx.storage.delete(before.storageId);
    await ctx.db.delete("files", before._id);
    return 204;
  },
});

function isMet(before: Doc<"files"> | null, ifMatch: string | null): boolean {
  return ifMatch === null || (ifMatch === "*" ? before !== null : before?.tag === ifMatch);
}

async function findFile(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("files")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}
