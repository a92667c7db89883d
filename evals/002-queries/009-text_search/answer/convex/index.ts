import { v } from "convex/values";
import { query } from "./_generated/server";

export const searchArticles = query({
  args: { text: v.string(), author: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("articles")
      .withSearchIndex("search_body", (q) =>
        q.search("body", args.text).eq("author", args.author),
      )
      .take(10);
  },
});
