import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { caller, get, no, revisions } from "./base";

async function link(ctx: QueryCtx, token: string) {
  return (await ctx.db.query("links").collect()).find((each) => each.token === token);
}

export const create = mutation({
  args: { name: v.string(), downloads: v.number(), minutes: v.number() },
  handler: async (ctx, { name, downloads, minutes }) => {
    const { owner, key } = (await get(ctx, await caller(ctx), name)) ?? no("NOT_FOUND");
    const within = (value: number, most: number) => value % 1 === 0 && value > 0 && value <= most;
    if (!(within(downloads, 100) && within(minutes, 10_000))) no("INVALID");
    const token = crypto.randomUUID();
    const end = Date.now() + 60 * minutes * 1000;
    await ctx.db.insert("links", { owner, key, token, downloads: 0, most: downloads, end });
    return token;
  },
});

export const list = query({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const { key } = (await get(ctx, await caller(ctx), name)) ?? no("NOT_FOUND");
    const links = (await ctx.db.query("links").collect()).filter((each) => each.key === key);
    return links.map(({ token, downloads, most, end }) => ({ token, remaining: most - downloads, expiresAt: end }));
  },
});

export const revoke = mutation({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const owner = await caller(ctx);
    const found = await link(ctx, token);
    if (found?.owner !== owner) no("NOT_FOUND");
    await ctx.db.delete("links", found._id);
    return null;
  },
});

/** Which bytes are asked for; null if none are there. */
function bytesOf(range: string | undefined, size: number) {
  const all = { isPart: false, from: 0, to: size };
  const end = /^bytes=-(\d+)$/.exec(range ?? "");
  if (end !== null) {
    const count = Math.min(Number(end[1]), size);
    return count === 0 ? null : { isPart: true, from: size - count, to: size };
  }
  const part = /^bytes=(\d+)-(\d*)$/.exec(range ?? "");
  if (part === null) return all;
  const from = Number(part[1]);
  const to = part[2] === "" ? Infinity : Number(part[2]) + 1;
  if (to <= from) return all;
  return from >= size ? null : { isPart: true, from, to: Math.min(to, size) };
}

export const download = internalMutation({
  args: { token: v.string(), tags: v.array(v.string()), range: v.optional(v.string()) },
  handler: async (ctx, { token, tags, range }) => {
    const found = await link(ctx, token);
    const isOut = (await ctx.db.query("shelf").collect()).some(({ key }) => key === found?.key);
    if (found === undefined || !isOut) return { status: 404 };
    if (Date.now() >= found.end || found.downloads >= found.most) return { status: 410 };
    const newest = (await revisions(ctx, found.key)).pop() as Doc<"revisions">;
    const { hash, bytes: size, stored } = (await ctx.db.get("contents", newest.content)) as Doc<"contents">;
    if (tags.some((tag) => tag === "*" || tag === `"${hash}"`)) return { status: 304, hash };
    const asked = bytesOf(range, size);
    if (asked === null) return { status: 416, hash, range: `bytes */${String(size)}` };
    if (asked.from === 0) await ctx.db.patch("links", found._id, { downloads: found.downloads + 1 });
    if (!asked.isPart) return { status: 200, hash, stored, ...asked };
    const sent = `bytes ${String(asked.from)}-${String(asked.to - 1)}/${String(size)}`;
    return { status: 206, hash, stored, range: sent, ...asked };
  },
});
