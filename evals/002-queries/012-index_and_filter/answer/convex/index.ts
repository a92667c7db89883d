import { v } from "convex/values";
import { query } from "./_generated/server";

export const findFlats = query({
  args: {
    city: v.string(),
    maxRent: v.number(),
    minRooms: v.number(),
    word: v.string(),
  },
  handler: async (ctx, args) => {
    const affordable = await ctx.db
      .query("flats")
      .withIndex("by_city_and_rent", (q) =>
        q.eq("city", args.city).lte("rent", args.maxRent),
      )
      .collect();
    const word = args.word.toLowerCase();
    return affordable.filter(
      (flat) =>
        flat.rooms >= args.minRooms &&
        flat.description.toLowerCase().includes(word),
    );
  },
});
