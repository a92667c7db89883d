import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, newToken, requireOwner } from "./access";
import { findFile, versionsOf } from "./files";
import { isKnown, parseRange } from "./ranges";

const MINUTE = 60 * 1000;
const MOST_DOWNLOADS = 100;
const MOST_MINUTES = 10_000;

function isCount(value: number, most: number) {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

async function findShare(ctx: QueryCtx, token: string) {
  return await ctx.db
    .query("shares")
    .withIndex("by_token", (q) => q.eq("token", token))
    .unique();
}

export async function sharesOf(ctx: QueryCtx, fileId: Id<"files">) {
  return await ctx.db
    .query("shares")
    .withIndex("by_file", (q) => q.eq("fileId", fileId))
    .collect();
}

export const create = mutation({
  args: { name: v.string(), downloads: v.number(), minutes: v.number() },
  returns: v.string(),
  handler: async (ctx, { name, downloads, minutes }) => {
    const file = await findFile(ctx, await requireOwner(ctx), name);
    if (file === null) throw failure("NOT_FOUND");
    if (!isCount(downloads, MOST_DOWNLOADS) || !isCount(minutes, MOST_MINUTES)) throw failure("INVALID");
    const token = newToken();
    const expiresAt = Date.now() + minutes * MINUTE;
    await ctx.db.insert("shares", { fileId: file._id, token, remaining: downloads, expiresAt });
    return token;
  },
});

export const list = query({
  args: { name: v.string() },
  returns: v.array(v.object({ token: v.string(), remaining: v.number(), expiresAt: v.number() })),
  handler: async (ctx, { name }) => {
    const file = await findFile(ctx, await requireOwner(ctx), name);
    if (file === null) throw failure("NOT_FOUND");
    const shares = await sharesOf(ctx, file._id);
    return shares.map(({ token, remaining, expiresAt }) => ({ token, remaining, expiresAt }));
  },
});

export const revoke = mutation({
  args: { token: v.string() },
  returns: v.null(),
  handler: async (ctx, { token }) => {
    const owner = await requireOwner(ctx);
    const share = await findShare(ctx, token);
    const file = share && (await ctx.db.get("files", share.fileId));
    if (share === null || file?.owner !== owner) throw failure("NOT_FOUND");
    await ctx.db.delete("shares", share._id);
    return null;
  },
});

const part = v.object({ first: v.number(), last: v.number() });

/** Decides what a link responds, and counts the download if it is one. */
export const serve = internalMutation({
  args: { token: v.string(), ifNoneMatch: v.union(v.string(), v.null()), range: v.union(v.string(), v.null()) },
  returns: v.union(
    v.object({ status: v.union(v.literal(404), v.literal(410)) }),
    v.object({ status: v.literal(304), hash: v.string() }),
    v.object({ status: v.literal(416), hash: v.string(), size: v.number() }),
    v.object({ status: v.literal(200), hash: v.string(), storageId: v.id("_storage") }),
    v.object({
      status: v.literal(206),
      hash: v.string(),
      size: v.number(),
      part,
      storageId: v.id("_storage"),
    }),
  ),
  handler: async (ctx, { token, ifNoneMatch, range }) => {
    const share = await findShare(ctx, token);
    if (share === null) return { status: 404 as const };
    const file = await ctx.db.get("files", share.fileId);
    if (file === null || file.deletedAt !== null) return { status: 404 as const };
    if (share.expiresAt <= Date.now() || share.remaining === 0) return { status: 410 as const };
    const [newest] = await versionsOf(ctx, file._id);
    const content = await ctx.db.get("contents", newest.contentId);
    if (content === null) throw new Error("A version has lost its content.");
    const { hash, size, storageId } = content;
    if (isKnown(ifNoneMatch, hash)) return { status: 304 as const, hash };
    const asked = parseRange(range, size);
    if (asked === "none") return { status: 416 as const, hash, size };
    if (asked === "all" || asked.first === 0) {
      await ctx.db.patch("shares", share._id, { remaining: share.remaining - 1 });
    }
    if (asked === "all") return { status: 200 as const, hash, storageId };
    return { status: 206 as const, hash, size, part: asked, storageId };
  },
});
