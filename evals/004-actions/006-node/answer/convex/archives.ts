import { v } from "convex/values";
import {
  internalMutation,
  internalQuery,
  query,
  type QueryCtx,
} from "./_generated/server";

export const list = query({
  args: {},
  handler: async (ctx) => {
    const archives = await ctx.db
      .query("archives")
      .withIndex("by_name")
      .collect();
    return archives.map(({ name, size, sha256 }) => ({ name, size, sha256 }));
  },
});

export const save = internalMutation({
  args: {
    name: v.string(),
    data: v.bytes(),
    size: v.number(),
    sha256: v.string(),
  },
  handler: async (ctx, archive) => {
    const old = await archiveNamed(ctx, archive.name);
    if (old === null) {
      await ctx.db.insert("archives", archive);
    } else {
      await ctx.db.patch("archives", old._id, archive);
    }
    return null;
  },
});

export const find = internalQuery({
  args: { name: v.string() },
  handler: async (ctx, { name }) => await archiveNamed(ctx, name),
});

async function archiveNamed(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("archives")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}
