import { v } from "convex/values";
import { internalMutation, internalQuery, mutation, query } from "./_generated/server";
import { entriesOf, entryAt, fail, me } from "./locker";

export const create = mutation({
  args: { name: v.string(), downloads: v.number(), minutes: v.number() },
  handler: async (ctx, { name, downloads, minutes }) => {
    const { _id: entry } = await entryAt(ctx, name);
    if (downloads < 1 || downloads > 100 || minutes < 1 || minutes > 10_000) fail("INVALID");
    if (!Number.isInteger(downloads) || !Number.isInteger(minutes)) fail("INVALID");
    const code = crypto.randomUUID();
    await ctx.db.insert("links", { entry, code, left: downloads, until: Date.now() + minutes * 60_000 });
    return code;
  },
});

export const list = query({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    const { _id } = await entryAt(ctx, name);
    const links = (await ctx.db.query("links").collect()).filter(({ entry }) => entry === _id);
    return links.map(({ code, left, until }) => ({ expiresAt: until, remaining: left, token: code }));
  },
});

export const revoke = mutation({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const owner = await me(ctx);
    const link = (await ctx.db.query("links").collect()).find(({ code }) => code === token) ?? fail("NOT_FOUND");
    if (!(await entriesOf(ctx, owner)).some(({ _id }) => _id === link.entry)) fail("NOT_FOUND");
    await ctx.db.delete("links", link._id);
    return null;
  },
});

export const open = internalQuery({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const link = (await ctx.db.query("links").collect()).find(({ code }) => code === token);
    const entry = link && (await ctx.db.get("entries", link.entry));
    if (!link || !entry || entry.binned !== undefined) return 404;
    if (link.left < 1 || Date.now() >= link.until) return 410;
    const { hash, size } = entry.history[entry.history.length - 1];
    const blob = (await ctx.db.query("blobs").collect()).find((each) => each.hash === hash);
    if (blob === undefined) throw new Error("Lost.");
    return { hash, size, stored: blob.stored, link: link._id };
  },
});

export const count = internalMutation({
  args: { link: v.id("links") },
  handler: async (ctx, { link }) => {
    const found = await ctx.db.get("links", link);
    if (found !== null) await ctx.db.patch("links", link, { left: found.left - 1 });
  },
});
