import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { entryAt, fail, isPath, me, push, shelf, tidy } from "./locker";

export const list = query({
  args: { folder: v.optional(v.string()) },
  handler: async (ctx, { folder }) => {
    const files = await shelf(ctx, await me(ctx));
    if (folder !== undefined && !isPath(folder)) fail("INVALID");
    return files
      .filter(({ path }) => folder === undefined || path.indexOf(folder + "/") === 0)
      .map(({ path, history }) => ({ ...history[history.length - 1], name: path }));
  },
});

export const versions = query({
  args: { name: v.string() },
  handler: async (ctx, { name }) => (await entryAt(ctx, name)).history.reverse(),
});

export const revert = mutation({
  args: { name: v.string(), version: v.number() },
  handler: async (ctx, { name, version }) => {
    const { _id, history } = await entryAt(ctx, name);
    const old = history.find((each) => each.version === version) ?? fail("NOT_FOUND");
    const { version: newest } = await push(ctx, _id, old);
    await tidy(ctx);
    return newest;
  },
});

export const remove = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name }) => {
    await ctx.db.patch("entries", (await entryAt(ctx, name))._id, { binned: Date.now() });
    return null;
  },
});
