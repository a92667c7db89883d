import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { caller, destroy, get, no } from "./base";

async function trashOf(ctx: QueryCtx) {
  const owner = await caller(ctx);
  return await ctx.db
    .query("trash")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .order("desc")
    .collect();
}

export const list = query({
  args: {},
  handler: async (ctx) => (await trashOf(ctx)).map(({ _id, name, since }) => ({ id: _id, deletedAt: since, name })),
});

export const restore = mutation({
  args: { id: v.string() },
  handler: async (ctx, { id }) => {
    const item = (await trashOf(ctx)).find(({ _id }) => _id === id) ?? no("NOT_FOUND");
    const { owner, key } = item;
    let [name, tries] = [item.name, 0];
    while (await get(ctx, owner, name)) name = [item.name, (tries += 1)].join(".");
    await ctx.db.delete("trash", item._id);
    await ctx.db.insert("shelf", { owner, key, name });
    return name;
  },
});

export const empty = mutation({
  args: {},
  handler: async (ctx) => {
    let count = 0;
    for (const item of await trashOf(ctx)) {
      await destroy(ctx, item);
      count++;
    }
    return count;
  },
});
