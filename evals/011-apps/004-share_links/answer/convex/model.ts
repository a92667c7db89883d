import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalMutation,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

type Link = Doc<"links">;

const QUOTA_BYTES = 1000;
const UNUSED_MS = 7 * 24 * 60 * 60 * 1000;

export async function linksOf(
  ctx: QueryCtx,
  file: Id<"files">,
): Promise<Link[]> {
  return await ctx.db
    .query("links")
    .withIndex("by_file", (q) => q.eq("file", file))
    .collect();
}

/** When it stopped working, or will. */
function endOf({ expiresAt, endedAt }: Link): number {
  return Math.min(expiresAt ?? Infinity, endedAt ?? Infinity);
}

export function isWorking(link: Link): boolean {
  return endOf(link) > Date.now();
}

export async function endLink(ctx: MutationCtx, link: Link): Promise<void> {
  await ctx.db.patch("links", link._id, { endedAt: Date.now() });
  await sweepAfter(ctx, link.file, Date.now());
}

/** Looks at the file again when it has been unused for long since then. */
export async function sweepAfter(
  ctx: MutationCtx,
  file: Id<"files">,
  time: number,
): Promise<void> {
  await ctx.scheduler.runAt(time + UNUSED_MS, internal.model.sweep, { file });
}

export const sweep = internalMutation({
  args: { file: v.id("files") },
  handler: async (ctx, { file: id }) => {
    const file = await ctx.db.get("files", id);
    if (file !== null) {
      const ends = (await linksOf(ctx, id)).map(endOf);
      const unusedSince = Math.max(file.finishedAt, ...ends);
      if (unusedSince + UNUSED_MS <= Date.now()) {
        await deleteFile(ctx, file);
      }
    }
  },
});

export async function deleteFile(
  ctx: MutationCtx,
  file: Doc<"files">,
): Promise<void> {
  for (const { _id } of await linksOf(ctx, file._id)) {
    await ctx.db.delete("links", _id);
  }
  await ctx.db.delete("files", file._id);
  await ctx.storage.delete(file.storageId);
}

const result = v.union(
  v.object({ file: v.id("files") }),
  v.object({ code: v.string() }),
);

/** Returns what is wrong instead of throwing it, because throwing would bring the upload back. */
export const adopt = internalMutation({
  args: { user: v.string(), storageId: v.id("_storage"), name: v.string() },
  returns: result,
  handler: async (ctx, { user, storageId, name }) => {
    const upload = await ctx.db.system.get("_storage", storageId);
    if (upload === null) {
      return { code: "NO_UPLOAD" };
    }
    const known = await ctx.db
      .query("files")
      .withIndex("by_storage", (q) => q.eq("storageId", storageId))
      .unique();
    if (known !== null) {
      return { code: "ALREADY_FINISHED" };
    }
    const others = await ctx.db
      .query("files")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    const used = others.reduce((sum, { size }) => sum + size, 0);
    if (used + upload.size > QUOTA_BYTES) {
      await ctx.storage.delete(storageId);
      return { code: "OVER_QUOTA" };
    }
    const { size } = upload;
    const finishedAt = Date.now();
    const fields = { user, name, size, storageId, finishedAt };
    const file = await ctx.db.insert("files", fields);
    await sweepAfter(ctx, file, finishedAt);
    return { file };
  },
});

/** Takes one download of a link, or says why there is none. */
export const claim = internalMutation({
  args: { token: v.string() },
  returns: v.union(
    v.object({ status: v.literal(404) }),
    v.object({ status: v.literal(410) }),
    v.object({
      status: v.literal(200),
      storageId: v.id("_storage"),
      name: v.string(),
      contentType: v.optional(v.string()),
    }),
  ),
  handler: async (ctx, { token }) => {
    const link = await ctx.db
      .query("links")
      .withIndex("by_token", (q) => q.eq("token", token))
      .unique();
    const file = link && (await ctx.db.get("files", link.file));
    if (link === null || file === null) {
      return { status: 404 as const };
    }
    if (!isWorking(link)) {
      return { status: 410 as const };
    }
    if (link.downloadsLeft !== null) {
      const downloadsLeft = link.downloadsLeft - 1;
      await ctx.db.patch("links", link._id, { downloadsLeft });
      if (downloadsLeft === 0) {
        await endLink(ctx, link);
      }
    }
    const { storageId, name } = file;
    const stored = await ctx.db.system.get("_storage", storageId);
    const contentType = stored?.contentType;
    return { status: 200 as const, storageId, name, contentType };
  },
});
