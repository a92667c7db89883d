import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import { query } from "./_generated/server";

/** Titles of all articles, or of those about a topic, newest first. */
export const list = query({
  args: { topic: v.nullable(v.string()), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { topic, paginationOpts }) => {
    const articles =
      topic === null
        ? ctx.db.query("articles")
        : ctx.db.query("articles").withIndex("by_topic", (q) => q.eq("topic", topic));
    const result = await articles.order("desc").paginate(paginationOpts);
    return { ...result, page: result.page.map(({ _id, title }) => ({ id: _id, title })) };
  },
});

/** An article, or null if it does not exist any more. Some are broken: reading them fails. */
export const get = query({
  args: { id: v.id("articles") },
  handler: async (ctx, { id }) => {
    const article = await ctx.db.get("articles", id);
    if (article?.body === "") throw new ConvexError(`${article.title} cannot be read`);
    return article;
  },
});

/** The notes on an article, oldest first. */
export const notes = query({
  args: { articleId: v.id("articles") },
  handler: async (ctx, { articleId }) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_article", (q) => q.eq("articleId", articleId))
      .collect();
    return notes.map(({ text }) => text);
  },
});
