import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const fill = mutation({
  args: { numbers: v.array(v.number()) },
  handler: async (ctx, args) => {
    for (const item of await ctx.db.query("paging_items").collect()) await ctx.db.delete(item._id);
    const ids = [];
    for (const n of args.numbers) ids.push(await ctx.db.insert("paging_items", { n }));
    return ids;
  },
});

export const add = mutation({ args: { n: v.number() }, handler: async (ctx, args) => await ctx.db.insert("paging_items", { n: args.n }) });

export const removeNumber = mutation({
  args: { n: v.number() },
  handler: async (ctx, args) => {
    const item = await ctx.db.query("paging_items").withIndex("by_n", (q) => q.eq("n", args.n)).unique();
    await ctx.db.delete(item!._id);
  },
});

const numbers = <T extends { page: { n: number }[] }>(result: T) => ({ ...result, page: result.page.map((item) => item.n) });

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => numbers(await ctx.db.query("paging_items").withIndex("by_n").paginate(args.paginationOpts)),
});

export const pageDescending = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) =>
    numbers(await ctx.db.query("paging_items").withIndex("by_n").order("desc").paginate(args.paginationOpts)),
});

export const pageOfEven = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) =>
    numbers(
      await ctx.db
        .query("paging_items")
        .withIndex("by_n")
        .filter((q) => q.eq(q.mod(q.field("n"), 2), 0))
        .paginate(args.paginationOpts),
    ),
});

export const pageOfNone = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) =>
    numbers(
      await ctx.db
        .query("paging_items")
        .filter((q) => q.eq(q.field("n"), -1))
        .paginate(args.paginationOpts),
    ),
});

export const twoPages = query({
  args: {},
  handler: async (ctx) => {
    const options = { numItems: 1, cursor: null };
    await ctx.db.query("paging_items").paginate(options);
    await ctx.db.query("paging_items").withIndex("by_n").paginate(options);
  },
});
