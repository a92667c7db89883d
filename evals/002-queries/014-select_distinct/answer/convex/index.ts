import { v } from "convex/values";
import { query } from "./_generated/server";

export const listCountries = query({
  args: { site: v.string() },
  handler: async (ctx, { site }) => {
    const countries: string[] = [];
    let visit = await ctx.db
      .query("visits")
      .withIndex("by_site_and_country", (q) => q.eq("site", site))
      .first();
    while (visit !== null) {
      const { country } = visit;
      countries.push(country);
      visit = await ctx.db
        .query("visits")
        .withIndex("by_site_and_country", (q) =>
          q.eq("site", site).gt("country", country),
        )
        .first();
    }
    return countries;
  },
});
