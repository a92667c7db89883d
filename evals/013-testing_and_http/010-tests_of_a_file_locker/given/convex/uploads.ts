import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, internalQuery, mutation } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, newToken, requireOwner } from "./access";
import { usageOf } from "./account";
import { LITTLE_LATER } from "./cleanup";
import { findContent } from "./contents";
import { addVersion, findFile } from "./files";
import { isName } from "./names";

const QUOTA = 10_000;
const LARGEST = 5000;
const MOST_UPLOADS = 3;
const UPLOAD_TIME = 60 * 60 * 1000;

/** An upload that can still be finished. */
async function findUpload(ctx: QueryCtx, token: string) {
  const upload = await ctx.db
    .query("uploads")
    .withIndex("by_token", (q) => q.eq("token", token))
    .unique();
  return upload === null || upload.expiresAt <= Date.now() ? null : upload;
}

export const begin = mutation({
  args: { name: v.string(), size: v.number() },
  returns: v.string(),
  handler: async (ctx, { name, size }) => {
    const owner = await requireOwner(ctx);
    if (!isName(name) || !Number.isInteger(size) || size < 1 || size > LARGEST) throw failure("INVALID");
    const uploads = await ctx.db
      .query("uploads")
      .withIndex("by_owner", (q) => q.eq("owner", owner))
      .collect();
    if (uploads.length >= MOST_UPLOADS) throw failure("TOO_MANY");
    const { used, reserved } = await usageOf(ctx, owner);
    if (used + reserved + size > QUOTA) throw failure("QUOTA");
    const token = newToken();
    const expiresAt = Date.now() + UPLOAD_TIME;
    await ctx.db.insert("uploads", { owner, name, size, token, expiresAt });
    await ctx.scheduler.runAt(expiresAt + LITTLE_LATER, internal.cleanup.run, {});
    return token;
  },
});

export const cancel = mutation({
  args: { token: v.string() },
  returns: v.null(),
  handler: async (ctx, { token }) => {
    const owner = await requireOwner(ctx);
    const upload = await findUpload(ctx, token);
    if (upload === null || upload.owner !== owner) throw failure("NOT_FOUND");
    await ctx.db.delete("uploads", upload._id);
    return null;
  },
});

/** How many bytes an upload wants. */
export const wanted = internalQuery({
  args: { token: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, { token }) => (await findUpload(ctx, token))?.size ?? null,
});

/** Makes what was stored a version of the file; null if that is not wanted any more. */
export const finish = internalMutation({
  args: { token: v.string(), storageId: v.id("_storage"), hash: v.string() },
  returns: v.union(v.object({ name: v.string(), version: v.number(), isNew: v.boolean() }), v.null()),
  handler: async (ctx, { token, storageId, hash }) => {
    const upload = await findUpload(ctx, token);
    if (upload === null) {
      await ctx.storage.delete(storageId);
      return null;
    }
    const { owner, name, size } = upload;
    await ctx.db.delete("uploads", upload._id);
    const known = await findContent(ctx, owner, hash);
    if (known !== null) await ctx.storage.delete(storageId);
    const contentId = known?._id ?? (await ctx.db.insert("contents", { owner, hash, size, storageId }));
    const file = await findFile(ctx, owner, name);
    const fileId = file?._id ?? (await ctx.db.insert("files", { owner, name, deletedAt: null }));
    const { version, isNew } = await addVersion(ctx, fileId, contentId);
    return { name, version, isNew };
  },
});
