import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { internal } from "./_generated/api";
import { internalMutation, mutation, type MutationCtx, query } from "./_generated/server";

const TYPES = ["image/png", "text/plain"];
const MOST_BYTES = 300_000;
const HOUR_MS = 60 * 60 * 1000;
const BATCH = 200;

export const list = query({
  args: {},
  handler: async (ctx) => {
    const entries = await ctx.db.query("entries").collect();
    return await Promise.all(
      entries.map(async ({ _id, name, storageId }) => {
        const file = await ctx.db.system.get("_storage", storageId);
        const url = await ctx.storage.getUrl(storageId);
        return { id: _id, name, size: file?.size ?? 0, type: file?.contentType ?? null, url };
      }),
    );
  },
});

export const uploadUrl = mutation({
  args: {},
  handler: async (ctx) => await ctx.storage.generateUploadUrl(),
});

/** Returns the checksum of an uploaded file, or why it is refused. A refused file is deleted. */
async function inspect(ctx: MutationCtx, storageId: Id<"_storage">): Promise<{ sha256: string } | { refusal: string }> {
  const file = await ctx.db.system.get("_storage", storageId);
  if (file === null) throw new ConvexError("No such file");
  const owner = await ctx.db
    .query("entries")
    .withIndex("by_file", (q) => q.eq("storageId", storageId))
    .first();
  if (owner !== null) throw new ConvexError("This file is on the shelf already");
  if (file.contentType === undefined || !TYPES.includes(file.contentType)) {
    return await refuse(ctx, storageId, "Only PNG images and plain text");
  }
  if (file.size > MOST_BYTES) return await refuse(ctx, storageId, `Larger than ${MOST_BYTES} bytes`);
  const twin = await ctx.db
    .query("entries")
    .withIndex("by_checksum", (q) => q.eq("sha256", file.sha256))
    .first();
  if (twin !== null) return await refuse(ctx, storageId, `The same as ${twin.name}`);
  return { sha256: file.sha256 };
}

/** The caller must not throw afterwards: that would bring the file back. */
async function refuse(ctx: MutationCtx, storageId: Id<"_storage">, refusal: string): Promise<{ refusal: string }> {
  await ctx.storage.delete(storageId);
  return { refusal };
}

export const add = mutation({
  args: { storageId: v.id("_storage"), name: v.string() },
  handler: async (ctx, { storageId, name }) => {
    const result = await inspect(ctx, storageId);
    if ("refusal" in result) return result.refusal;
    await ctx.db.insert("entries", { name, storageId, sha256: result.sha256 });
    return null;
  },
});

export const replace = mutation({
  args: { entryId: v.id("entries"), storageId: v.id("_storage") },
  handler: async (ctx, { entryId, storageId }) => {
    const result = await inspect(ctx, storageId);
    if ("refusal" in result) return result.refusal;
    const entry = await ctx.db.get("entries", entryId);
    if (entry === null) return (await refuse(ctx, storageId, "This entry has been removed")).refusal;
    await ctx.db.patch("entries", entryId, { storageId, sha256: result.sha256 });
    await ctx.storage.delete(entry.storageId);
    return null;
  },
});

export const remove = mutation({
  args: { entryId: v.id("entries") },
  handler: async (ctx, { entryId }) => {
    const entry = await ctx.db.get("entries", entryId);
    if (entry === null) return;
    await ctx.db.delete("entries", entryId);
    await ctx.storage.delete(entry.storageId);
  },
});

/**
 * Deletes stored files that are an hour old and belong to no entry. A file that belongs to one then is deleted with it,
 * so each file has to be looked at only once: `until` is the creation time of the last one.
 */
export const cleanUp = internalMutation({
  args: {},
  handler: async (ctx) => {
    const state = await ctx.db.query("cleanup").first();
    const files = await ctx.db.system
      .query("_storage")
      .withIndex("by_creation_time", (q) =>
        q.gt("_creationTime", state?.until ?? 0).lte("_creationTime", Date.now() - HOUR_MS),
      )
      .take(BATCH);
    const last = files.at(-1);
    if (last === undefined) return;
    for (const { _id } of files) {
      const owner = await ctx.db
        .query("entries")
        .withIndex("by_file", (q) => q.eq("storageId", _id))
        .first();
      if (owner === null) await ctx.storage.delete(_id);
    }
    if (state === null) await ctx.db.insert("cleanup", { until: last._creationTime });
    else await ctx.db.patch("cleanup", state._id, { until: last._creationTime });
    if (files.length === BATCH) await ctx.scheduler.runAfter(0, internal.shelf.cleanUp, {});
  },
});
