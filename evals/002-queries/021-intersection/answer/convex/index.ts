import { v } from "convex/values";
import { query, type QueryCtx } from "./_generated/server";

async function articlesWith(ctx: QueryCtx, tag: string) {
  const taggings = await ctx.db
    .query("taggings")
    .withIndex("by_tag", (q) => q.eq("tag", tag))
    .collect();
  return new Set(taggings.map((tagging) => tagging.articleId));
}

export const getArticlesWithBoth = query({
  args: { first: v.string(), second: v.string() },
  handler: async (ctx, args) => {
    const [first, second] = await Promise.all([
      articlesWith(ctx, args.first),
      articlesWith(ctx, args.second),
    ]);
    const ids = [...first].filter((id) => second.has(id));
    const articles = await Promise.all(
      ids.map((id) => ctx.db.get("articles", id)),
    );
    return articles
      .filter((article) => article !== null)
      .sort((a, b) => a._creationTime - b._creationTime);
  },
});
