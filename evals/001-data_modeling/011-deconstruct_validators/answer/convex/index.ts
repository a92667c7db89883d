import { v } from "convex/values";
import { internalMutation, mutation } from "./_generated/server";
import { article } from "./schema";

const written = article.omit("status", "metrics");

export const create = mutation({
  args: written,
  handler: async (ctx, args) => {
    return await ctx.db.insert("articles", {
      ...args,
      status: "draft",
      metrics: { views: 0, likes: 0 },
    });
  },
});

export const update = mutation({
  args: { articleId: v.id("articles"), changes: written.partial() },
  handler: async (ctx, { articleId, changes }) => {
    await ctx.db.patch("articles", articleId, changes);
    return null;
  },
});

export const setStatus = mutation({
  args: { articleId: v.id("articles"), status: article.fields.status },
  handler: async (ctx, { articleId, status }) => {
    await ctx.db.patch("articles", articleId, { status });
    return null;
  },
});

export const importArticles = internalMutation({
  args: { articles: v.array(article) },
  handler: async (ctx, { articles }) => {
    const ids = [];
    for (const article of articles) {
      ids.push(await ctx.db.insert("articles", article));
    }
    return ids;
  },
});
