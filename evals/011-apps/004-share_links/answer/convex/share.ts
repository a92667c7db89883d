import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { action, mutation, query, type QueryCtx } from "./_generated/server";
import {
  deleteFile,
  endLink,
  isWorking,
  linksOf,
  sweepAfter,
} from "./model";

const MINUTE_MS = 60 * 1000;

const ownFile = { user: v.string(), file: v.string() };

export const startUpload = mutation({
  args: { user: v.string() },
  handler: async (ctx) => await ctx.storage.generateUploadUrl(),
});

export const finishUpload = action({
  args: { user: v.string(), storageId: v.id("_storage"), name: v.string() },
  handler: async (ctx, args): Promise<Id<"files">> => {
    const result: { file: Id<"files"> } | { code: string } =
      await ctx.runMutation(internal.model.adopt, args);
    if ("code" in result) {
      throw new ConvexError(result);
    }
    return result.file;
  },
});

export const createLink = mutation({
  args: {
    ...ownFile,
    minutes: v.optional(v.number()),
    downloads: v.optional(v.number()),
  },
  handler: async (ctx, { user, file: id, minutes, downloads }) => {
    const file = await requireFile(ctx, user, id);
    const token = crypto.randomUUID();
    const expiresAt =
      minutes === undefined ? null : Date.now() + minutes * MINUTE_MS;
    await ctx.db.insert("links", {
      file: file._id,
      token,
      downloadsLeft: downloads ?? null,
      expiresAt,
      endedAt: null,
    });
    if (expiresAt !== null) {
      await sweepAfter(ctx, file._id, expiresAt);
    }
    return token;
  },
});

export const revokeLink = mutation({
  args: { user: v.string(), token: v.string() },
  handler: async (ctx, { user, token }) => {
    const link = await ctx.db
      .query("links")
      .withIndex("by_token", (q) => q.eq("token", token))
      .unique();
    const file = link && (await ctx.db.get("files", link.file));
    if (link === null || file?.user !== user) {
      throw new ConvexError({ code: "NOT_FOUND" });
    }
    if (isWorking(link)) {
      await endLink(ctx, link);
    }
    return null;
  },
});

export const removeFile = mutation({
  args: ownFile,
  handler: async (ctx, { user, file: id }) => {
    await deleteFile(ctx, await requireFile(ctx, user, id));
    return null;
  },
});

export const files = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const own = await ctx.db
      .query("files")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    return await Promise.all(
      own.map(async ({ _id, name, size }) => ({
        file: _id,
        name,
        size,
        links: (await linksOf(ctx, _id)).filter(isWorking).length,
      })),
    );
  },
});

export const links = query({
  args: ownFile,
  handler: async (ctx, { user, file: id }) => {
    const file = await requireFile(ctx, user, id);
    const all = await linksOf(ctx, file._id);
    return all
      .filter(isWorking)
      .map(({ token, downloadsLeft, expiresAt }) => ({
        token,
        downloadsLeft,
        expiresAt,
      }));
  },
});

async function requireFile(
  ctx: QueryCtx,
  user: string,
  text: string,
): Promise<Doc<"files">> {
  const id = ctx.db.normalizeId("files", text);
  const file = id === null ? null : await ctx.db.get("files", id);
  if (file?.user !== user) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
  return file;
}
