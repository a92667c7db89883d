import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { freeSlug } from "./slugs";

export const create = mutation({
  args: { title: v.string(), body: v.string() },
  handler: async (ctx, { title, body }) => {
    const slug = await freeSlug(ctx, title);
    const id = await ctx.db.insert("pages", { title, slug, body });
    return { id, slug };
  },
});

/** Changes the title of a page, and the slug with it. */
export const rename = mutation({
  args: { pageId: v.id("pages"), title: v.string() },
  handler: async (ctx, { pageId, title }) => {
    await existing(ctx, pageId);
    const slug = await freeSlug(ctx, title, pageId);
    await ctx.db.patch("pages", pageId, { title, slug });
    return { id: pageId, slug };
  },
});

export const edit = mutation({
  args: { pageId: v.id("pages"), body: v.string() },
  handler: async (ctx, { pageId, body }) => {
    await existing(ctx, pageId);
    await ctx.db.patch("pages", pageId, { body });
    return null;
  },
});

export const remove = mutation({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    await existing(ctx, pageId);
    await ctx.db.delete("pages", pageId);
    return null;
  },
});

export const bySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const page = await ctx.db
      .query("pages")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .first();
    return page && shown(page);
  },
});

function shown({ _id, title, slug, body }: Doc<"pages">) {
  return { id: _id, title, slug, body };
}

async function existing(ctx: QueryCtx, pageId: Id<"pages">) {
  const page = await ctx.db.get("pages", pageId);
  if (page === null) throw new ConvexError({ code: "NOT_FOUND" });
  return page;
}
