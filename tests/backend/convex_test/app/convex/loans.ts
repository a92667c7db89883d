import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, type MutationCtx, query } from "./_generated/server";

export const borrow = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => {
    const reader = await readerOf(ctx);
    const book = await bookCalled(ctx, title);
    // Before the check: what a failed mutation has written must not stay.
    await ctx.db.patch(book._id, { borrower: reader });
    if (book.borrower !== undefined) throw new ConvexError({ reason: "lent", to: book.borrower });
    await ctx.scheduler.runAfter(0, internal.loans.remind, { title });
  },
});

export const giveBack = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => {
    const book = await bookCalled(ctx, title);
    await ctx.db.patch(book._id, { borrower: undefined });
  },
});

export const remind = internalMutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => {
    const book = await bookCalled(ctx, title);
    if (book.borrower !== undefined) await ctx.db.insert("reminders", { book: book._id, to: book.borrower });
  },
});

export const reminders = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("reminders").collect()).map((reminder) => reminder.to),
});

export const awaited = query({
  args: {},
  handler: async (ctx) => {
    const jobs = await ctx.db.system.query("_scheduled_functions").collect();
    return jobs.filter((job) => job.state.kind === "pending" || job.state.kind === "inProgress").length;
  },
});

async function readerOf(ctx: MutationCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw new ConvexError("Please sign in.");
  return identity.name!;
}

async function bookCalled(ctx: MutationCtx, title: string) {
  const book = await ctx.db
    .query("books")
    .withIndex("by_title", (q) => q.eq("title", title))
    .unique();
  if (book === null) throw new ConvexError({ reason: "unknown", title });
  return book;
}
