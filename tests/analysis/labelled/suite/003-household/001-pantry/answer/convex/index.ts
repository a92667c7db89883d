import { ConvexError, v } from "convex/values";
import { mutation, query, type QueryCtx } from "./_generated/server";

async function find(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("supplies")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}

export const put = mutation({
  args: { name: v.string(), amount: v.number() },
  handler: async (ctx, args) => {
    const supply = await find(ctx, args.name);
    if (supply === null) {
      await ctx.db.insert("supplies", { name: args.name, stock: args.amount });
    } else {
      await ctx.db.patch(supply._id, { stock: supply.stock + args.amount });
    }
  },
});

export const take = mutation({
  args: { name: v.string(), amount: v.number() },
  handler: async (ctx, args) => {
    const supply = await find(ctx, args.name);
    if (supply === null || supply.stock < args.amount) {
      throw new ConvexError({ code: "NOT_ENOUGH" });
    }
    const left = supply.stock - args.amount;
    await ctx.db.patch(supply._id, { stock: left });
    return left;
  },
});

export const getStock = query({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    const supply = await find(ctx, args.name);
    return supply?.stock ?? 0;
  },
});
