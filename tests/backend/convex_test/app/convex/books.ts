import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { api } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

export const add = mutation({
  args: { title: v.string(), author: v.string(), year: v.number() },
  returns: v.null(),
  handler: async (ctx, book) => {
    await ctx.db.insert("books", book);
    return null;
  },
});

export const addAll = action({
  args: { author: v.string(), books: v.array(v.object({ title: v.string(), year: v.number() })) },
  handler: async (ctx, { author, books }): Promise<number> => {
    for (const book of books) await ctx.runMutation(api.books.add, { author, ...book });
    return (await ctx.runQuery(api.books.since, { author, year: 0 })).length;
  },
});

export const since = query({
  args: { author: v.string(), year: v.number() },
  handler: async (ctx, { author, year }) => {
    const books = await ctx.db
      .query("books")
      .withIndex("by_author_and_year", (q) => q.eq("author", author).gte("year", year))
      .collect();
    return books.map((book) => book.title);
  },
});

export const find = query({
  args: { words: v.string() },
  handler: async (ctx, { words }) => {
    const books = await ctx.db
      .query("books")
      .withSearchIndex("search_title", (q) => q.search("title", words))
      .take(10);
    return books.map((book) => book.title);
  },
});

export const newest = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    const found = await ctx.db.query("books").order("desc").paginate(paginationOpts);
    return { titles: found.page.map((book) => book.title), isDone: found.isDone };
  },
});

export const shelf = query({
  args: {},
  handler: async (ctx) => {
    const books = await ctx.db
      .query("books")
      .filter((q) => q.eq(q.field("borrower"), undefined))
      .collect();
    return books.map(({ title, year }) => ({ title, year }));
  },
});
