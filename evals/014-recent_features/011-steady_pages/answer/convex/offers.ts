import {
  paginationOptsValidator,
  paginationResultValidator,
} from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

const MOST_DOCUMENTS = 200;
const MOST_BYTES = 100_000;
const LARGEST_OFFER = 20_000;

export const search = query({
  args: {
    shop: v.string(),
    minPrice: v.optional(v.number()),
    maxPrice: v.optional(v.number()),
    minWeight: v.optional(v.number()),
    maxWeight: v.optional(v.number()),
    minRating: v.optional(v.number()),
    maxRating: v.optional(v.number()),
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(
    v.object({
      title: v.string(),
      price: v.number(),
      weight: v.number(),
      rating: v.number(),
    }),
  ),
  handler: async (ctx, args) => {
    const found = await ctx.db
      .query("offers")
      .withIndex("by_shop", (q) => q.eq("shop", args.shop))
      .order("desc")
      .filter((q) =>
        q.and(
          q.gte(q.field("price"), args.minPrice ?? -Infinity),
          q.lte(q.field("price"), args.maxPrice ?? Infinity),
          q.gte(q.field("weight"), args.minWeight ?? -Infinity),
          q.lte(q.field("weight"), args.maxWeight ?? Infinity),
          q.gte(q.field("rating"), args.minRating ?? -Infinity),
          q.lte(q.field("rating"), args.maxRating ?? Infinity),
        ),
      )
      .paginate({
        ...args.paginationOpts,
        maximumRowsRead: MOST_DOCUMENTS,
        // The document with which it is reached is read, too.
        maximumBytesRead: MOST_BYTES - LARGEST_OFFER,
      });
    const page = found.page.map(({ title, price, weight, rating }) => ({
      title,
      price,
      weight,
      rating,
    }));
    return { ...found, page };
  },
});
