import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { accountOf, append, book, caller, discard, get, no, planRound, valid } from "./base";

async function unfinished(ctx: QueryCtx, token: string) {
  const all = await ctx.db.query("uploads").collect();
  return all.find((each) => each.token === token && each.end > Date.now());
}

export const begin = mutation({
  args: { name: v.string(), size: v.number() },
  handler: async (ctx, { name, size }) => {
    const owner = await caller(ctx);
    if (!valid(name)) no("INVALID");
    if (Math.round(size) !== size || size <= 0 || size >= 5001) no("INVALID");
    const account = (await accountOf(ctx, owner)) ?? { uploads: 0, used: 0, reserved: 0 };
    if (account.uploads === 3) no("TOO_MANY");
    if (account.used + account.reserved > 10_000 - size) no("QUOTA");
    const token = crypto.randomUUID();
    await ctx.db.insert("uploads", { owner, name, bytes: size, token, end: Date.now() + 3_600_000 });
    await book(ctx, owner, { reserved: size, uploads: 1 });
    await planRound(ctx);
    return token;
  },
});

export const cancel = mutation({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const owner = await caller(ctx);
    const upload = (await unfinished(ctx, token)) ?? no("NOT_FOUND");
    if (upload.owner !== owner) no("NOT_FOUND");
    await discard(ctx, upload);
    return null;
  },
});

/** Everything in one transaction; what is stored for nothing is removed again. */
export const receive = internalMutation({
  args: { token: v.string(), hash: v.string(), bytes: v.number(), stored: v.id("_storage") },
  handler: async (ctx, { token, hash, bytes, stored }) => {
    const upload = await unfinished(ctx, token);
    if (upload?.bytes !== bytes) {
      await ctx.storage.delete(stored);
      return { status: upload === undefined ? 404 : 400 };
    }
    const { owner, name } = upload;
    await discard(ctx, upload);
    const known = await ctx.db
      .query("contents")
      .withIndex("by_owner", (q) => q.eq("owner", owner).eq("hash", hash))
      .first();
    if (known !== null) await ctx.storage.delete(stored);
    else await book(ctx, owner, { used: bytes });
    const content = known?._id ?? (await ctx.db.insert("contents", { owner, hash, bytes, stored, references: 0 }));
    let key = (await get(ctx, owner, name))?.key;
    if (key === undefined) await ctx.db.insert("shelf", { owner, name, key: (key = crypto.randomUUID()) });
    const { number, added } = await append(ctx, key, content);
    return { status: added ? 201 : 200, body: { name, version: number } };
  },
});
