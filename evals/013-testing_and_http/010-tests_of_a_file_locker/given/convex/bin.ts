import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireOwner } from "./access";
import { release } from "./contents";
import { findFile, versionsOf } from "./files";
import { sharesOf } from "./shares";

/** What was deleted last comes first. */
async function binOf(ctx: QueryCtx, owner: string) {
  return await ctx.db
    .query("files")
    .withIndex("by_owner", (q) => q.eq("owner", owner).gt("deletedAt", null))
    .order("desc")
    .collect();
}

/** Removes a file for good, with its versions and links. */
export async function purge(ctx: MutationCtx, fileId: Id<"files">) {
  for (const version of await versionsOf(ctx, fileId)) {
    await ctx.db.delete("versions", version._id);
    await release(ctx, version.contentId);
  }
  for (const share of await sharesOf(ctx, fileId)) await ctx.db.delete("shares", share._id);
  await ctx.db.delete("files", fileId);
}

async function freeName(ctx: QueryCtx, owner: string, name: string) {
  let free = name;
  for (let number = 1; (await findFile(ctx, owner, free)) !== null; number += 1) free = `${name}.${String(number)}`;
  return free;
}

export const list = query({
  args: {},
  returns: v.array(v.object({ id: v.string(), name: v.string(), deletedAt: v.number() })),
  handler: async (ctx) => {
    const files = await binOf(ctx, await requireOwner(ctx));
    return files.map(({ _id, name, deletedAt }) => ({ id: _id, name, deletedAt: deletedAt ?? 0 }));
  },
});

export const restore = mutation({
  args: { id: v.string() },
  returns: v.string(),
  handler: async (ctx, { id }) => {
    const owner = await requireOwner(ctx);
    const fileId = ctx.db.normalizeId("files", id);
    const file = fileId && (await ctx.db.get("files", fileId));
    if (!file || file.owner !== owner || file.deletedAt === null) throw failure("NOT_FOUND");
    const name = await freeName(ctx, owner, file.name);
    await ctx.db.patch("files", file._id, { name, deletedAt: null });
    return name;
  },
});

export const empty = mutation({
  args: {},
  returns: v.number(),
  handler: async (ctx) => {
    const files = await binOf(ctx, await requireOwner(ctx));
    for (const file of files) await purge(ctx, file._id);
    return files.length;
  },
});
