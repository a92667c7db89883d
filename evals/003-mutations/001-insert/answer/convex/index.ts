import { type Infer, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";

const newBook = v.object({
  title: v.string(),
  pages: v.number(),
  isbn: v.optional(v.string()),
});

async function insertBook(ctx: MutationCtx, book: Infer<typeof newBook>) {
  if (!Number.isInteger(book.pages) || book.pages < 1) {
    throw new Error(`A book cannot have ${book.pages} pages`);
  }
  return await ctx.db.insert("books", { ...book, tags: [], isLent: false });
}

export const addBook = mutation({
  args: newBook.fields,
  handler: async (ctx, args) => {
    return await insertBook(ctx, args);
  },
});

export const addAndGetBook = mutation({
  args: newBook.fields,
  handler: async (ctx, args) => {
    const bookId = await insertBook(ctx, args);
    return await ctx.db.get("books", bookId);
  },
});

export const addBooks = mutation({
  args: { books: v.array(newBook) },
  handler: async (ctx, args) => {
    const bookIds: Id<"books">[] = [];
    for (const book of args.books) {
      bookIds.push(await insertBook(ctx, book));
    }
    return bookIds;
  },
});
