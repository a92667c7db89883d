import {
  paginationOptsValidator,
  paginationResultValidator,
} from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

const listedBook = v.object({
  _id: v.id("books"),
  title: v.string(),
  pages: v.number(),
  subtitle: v.optional(v.string()),
});

export const listBooks = query({
  args: { paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(listedBook),
  handler: async (ctx, args) => {
    const books = await ctx.db.query("books").paginate(args.paginationOpts);
    return {
      ...books,
      page: books.page.map(({ _id, title, pages, subtitle }) => ({
        _id,
        title,
        pages,
        subtitle,
      })),
    };
  },
});
