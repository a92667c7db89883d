import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireOwner } from "./access";
import { BIN_TIME, LITTLE_LATER } from "./cleanup";
import { release } from "./contents";
import { isInFolder, isName } from "./names";

const MOST_VERSIONS = 3;

/** A file that is not in the bin. */
export async function findFile(ctx: QueryCtx, owner: string, name: string) {
  return await ctx.db
    .query("files")
    .withIndex("by_owner", (q) => q.eq("owner", owner).eq("deletedAt", null).eq("name", name))
    .unique();
}

/** Files that are not in the bin, by their names. */
export async function filesOf(ctx: QueryCtx, owner: string, folder?: string) {
  const files = await ctx.db
    .query("files")
    .withIndex("by_owner", (q) => q.eq("owner", owner).eq("deletedAt", null))
    .collect();
  return folder === undefined ? files : files.filter(({ name }) => isInFolder(name, folder));
}

async function ownFile(ctx: QueryCtx, name: string) {
  const file = await findFile(ctx, await requireOwner(ctx), name);
  if (file === null) throw failure("NOT_FOUND");
  return file;
}

/** The newest first. */
export async function versionsOf(ctx: QueryCtx, fileId: Id<"files">) {
  return await ctx.db
    .query("versions")
    .withIndex("by_file", (q) => q.eq("fileId", fileId))
    .order("desc")
    .collect();
}

/** Adds a version, unless the newest one has this content already. */
export async function addVersion(ctx: MutationCtx, fileId: Id<"files">, contentId: Id<"contents">) {
  const versions = await versionsOf(ctx, fileId);
  const newest = versions.at(0);
  if (newest?.contentId === contentId) return { version: newest.number, isNew: false };
  const number = (newest?.number ?? 0) + 1;
  await ctx.db.insert("versions", { fileId, contentId, number, at: Date.now() });
  for (const old of versions.slice(MOST_VERSIONS - 1)) {
    await ctx.db.delete("versions", old._id);
    await release(ctx, old.contentId);
  }
  return { version: number, isNew: true };
}

const described = { version: v.number(), size: v.number(), hash: v.string(), at: v.number() };

async function describe(ctx: QueryCtx, { number, contentId, at }: Doc<"versions">) {
  const content = await ctx.db.get("contents", contentId);
  if (content === null) throw new Error("A version has lost its content.");
  return { version: number, size: content.size, hash: content.hash, at };
}

export const list = query({
  args: { folder: v.optional(v.string()) },
  returns: v.array(v.object({ name: v.string(), ...described })),
  handler: async (ctx, { folder }) => {
    const owner = await requireOwner(ctx);
    if (folder !== undefined && !isName(folder)) throw failure("INVALID");
    const files = [];
    for (const { _id, name } of await filesOf(ctx, owner, folder)) {
      const [newest] = await versionsOf(ctx, _id);
      files.push({ name, ...(await describe(ctx, newest)) });
    }
    return files;
  },
});

export const versions = query({
  args: { name: v.string() },
  returns: v.array(v.object(described)),
  handler: async (ctx, { name }) => {
    const file = await ownFile(ctx, name);
    const all = await versionsOf(ctx, file._id);
    return await Promise.all(all.map(async (version) => await describe(ctx, version)));
  },
});

export const revert = mutation({
  args: { name: v.string(), version: v.number() },
  returns: v.number(),
  handler: async (ctx, { name, version }) => {
    const file = await ownFile(ctx, name);
    const wanted = (await versionsOf(ctx, file._id)).find(({ number }) => number === version);
    if (wanted === undefined) throw failure("NOT_FOUND");
    const added = await addVersion(ctx, file._id, wanted.contentId);
    return added.version;
  },
});

export const remove = mutation({
  args: { name: v.string() },
  returns: v.null(),
  handler: async (ctx, { name }) => {
    const file = await ownFile(ctx, name);
    const deletedAt = Date.now();
    await ctx.db.patch("files", file._id, { deletedAt });
    await ctx.scheduler.runAt(deletedAt + BIN_TIME + LITTLE_LATER, internal.cleanup.run, {});
    return null;
  },
});
