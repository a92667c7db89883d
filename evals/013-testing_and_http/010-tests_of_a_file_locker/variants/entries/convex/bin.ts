import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { entriesOf, fail, me, shelf, tidy } from "./locker";

async function bin(ctx: QueryCtx) {
  const all = await entriesOf(ctx, await me(ctx));
  const items = all.map(({ _id, path, binned }) => ({ id: _id, name: path, deletedAt: binned ?? -1 }));
  return items.filter((each) => each.deletedAt >= 0).sort((a, b) => b.deletedAt - a.deletedAt);
}

export const list = query({ args: {}, handler: bin });

export const restore = mutation({
  args: { id: v.string() },
  handler: async (ctx, { id }) => {
    const found = (await bin(ctx)).find((each) => each.id === id) ?? fail("NOT_FOUND");
    const taken = (await shelf(ctx, await me(ctx))).map((each) => each.path);
    const names = [found.name, ...taken.map((_, index) => `${found.name}.${String(index + 1)}`)];
    const path = names.find((name) => !taken.includes(name)) ?? found.name;
    await ctx.db.patch("entries", found.id, { path, binned: undefined });
    return path;
  },
});

export const empty = mutation({
  args: {},
  handler: async (ctx) => {
    const items = await bin(ctx);
    for (const { id } of items) await ctx.db.delete("entries", id);
    await tidy(ctx);
    return items.length;
  },
});
