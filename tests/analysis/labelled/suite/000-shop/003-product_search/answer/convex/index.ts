import { v } from "convex/values";
import { query } from "./_generated/server";

export const findProducts = query({
  args: { text: v.string() },
  handler: async (ctx, args) => {
    const products = await ctx.db.query("products").collect();
    const names = products.map((product) => product.name);
    return names.filter((name) => name.toLowerCase().includes(args.text.toLowerCase())).sort();
  },
});
