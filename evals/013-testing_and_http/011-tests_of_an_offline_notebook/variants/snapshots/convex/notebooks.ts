import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { caller, level, oops } from "./common";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, { name: label }) => {
    const person = await caller(ctx);
    const book = await ctx.db.insert("notebooks", { label });
    await ctx.db.insert("grants", { book, person, level: 2 });
    return book;
  },
});

export const share = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string(), role: v.union(v.literal("reader"), v.literal("writer")) },
  handler: async (ctx, { notebookId: book, user: person, role }) => {
    const own = await level(ctx, book, await caller(ctx));
    if (own < 2) oops(own < 0 ? "NOT_FOUND" : "FORBIDDEN");
    if ((await level(ctx, book, person)) === 2) oops("INVALID");
    const grant = await ctx.db
      .query("grants")
      .withIndex("by_book", (q) => q.eq("book", book).eq("person", person))
      .unique();
    if (grant !== null) await ctx.db.delete("grants", grant._id);
    await ctx.db.insert("grants", { book, person, level: role === "writer" ? 1 : 0 });
    return null;
  },
});

export const unshare = mutation({
  args: { notebookId: v.id("notebooks"), user: v.string() },
  handler: async (ctx, { notebookId: book, user: person }) => {
    const me = await caller(ctx);
    const own = await level(ctx, book, me);
    if (own < 0) oops("NOT_FOUND");
    if (own < 2 && person !== me) oops("FORBIDDEN");
    const grant = await ctx.db
      .query("grants")
      .withIndex("by_book", (q) => q.eq("book", book).eq("person", person))
      .unique();
    if (grant === null || grant.level === 2) oops("INVALID");
    await ctx.db.delete("grants", grant._id);
    return null;
  },
});
