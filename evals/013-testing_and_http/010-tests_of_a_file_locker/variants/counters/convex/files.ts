import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { append, caller, describe, get, no, planRound, revisions, valid } from "./base";

const named = { name: v.string() };

export const list = query({
  args: { folder: v.optional(v.string()) },
  handler: async (ctx, { folder }) => {
    const owner = await caller(ctx);
    if (folder !== undefined && !valid(folder)) no("INVALID");
    const result = [];
    for await (const { name, key } of ctx.db.query("shelf").withIndex("by_name", (q) => q.eq("owner", owner))) {
      if (folder !== undefined && name.slice(0, folder.length + 1) !== `${folder}/`) continue;
      const all = await revisions(ctx, key);
      result.push({ ...(await describe(ctx, all[all.length - 1])), name });
    }
    return result;
  },
});

export const versions = query({
  args: named,
  handler: async (ctx, { name }) => {
    const { key } = (await get(ctx, await caller(ctx), name)) ?? no("NOT_FOUND");
    const result = [];
    for (const revision of await revisions(ctx, key)) result.unshift(await describe(ctx, revision));
    return result;
  },
});

export const revert = mutation({
  args: { ...named, version: v.number() },
  handler: async (ctx, { name, version }) => {
    const { key } = (await get(ctx, await caller(ctx), name)) ?? no("NOT_FOUND");
    for (const { number, content } of await revisions(ctx, key)) {
      if (number === version) return (await append(ctx, key, content)).number;
    }
    return no("NOT_FOUND");
  },
});

export const remove = mutation({
  args: named,
  handler: async (ctx, { name }) => {
    const { _id, owner, key } = (await get(ctx, await caller(ctx), name)) ?? no("NOT_FOUND");
    await ctx.db.delete("shelf", _id);
    await ctx.db.insert("trash", { owner, key, name, since: Date.now() });
    await planRound(ctx);
    return null;
  },
});
