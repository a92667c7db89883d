import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const addBook = mutation({
  args: {
    title: v.string(),
    authorId: v.id("authors"),
    sequelTo: v.optional(v.id("books")),
  },
  handler: async (ctx, args) => {
    // The database checks that ids are of the right table, not that they lead somewhere.
    if ((await ctx.db.get("authors", args.authorId)) === null) {
      throw new Error(`There is no author ${args.authorId}`);
    }
    if (
      args.sequelTo !== undefined &&
      (await ctx.db.get("books", args.sequelTo)) === null
    ) {
      throw new Error(`There is no book ${args.sequelTo}`);
    }
    return await ctx.db.insert("books", args);
  },
});

export const getBook = query({
  args: { bookId: v.id("books") },
  handler: async (ctx, { bookId }) => {
    const book = await ctx.db.get("books", bookId);
    if (book === null) {
      return null;
    }
    const precedingBook =
      book.sequelTo && (await ctx.db.get("books", book.sequelTo));
    return {
      title: book.title,
      author: await ctx.db.get("authors", book.authorId),
      continues: precedingBook?.title ?? null,
    };
  },
});

export const booksOf = query({
  args: { authorId: v.id("authors") },
  handler: async (ctx, { authorId }) => {
    return await ctx.db
      .query("books")
      .withIndex("by_authorId", (q) => q.eq("authorId", authorId))
      .collect();
  },
});
