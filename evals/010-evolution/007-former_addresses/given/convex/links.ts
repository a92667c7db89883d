import { v } from "convex/values";
import { query } from "./_generated/server";
import { linksIn } from "./slugs";

/** What a page links to, in the order of its text: the slugs, and the pages that they lead to. */
export const from = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    const page = await ctx.db.get("pages", pageId);
    const result = [];
    for (const slug of linksIn(page?.body ?? "")) {
      const target = await ctx.db
        .query("pages")
        .withIndex("by_slug", (q) => q.eq("slug", slug))
        .first();
      result.push({ slug, pageId: target?._id ?? null });
    }
    return result;
  },
});

/** The titles of the pages that link to a page, oldest page first. */
export const to = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    const target = await ctx.db.get("pages", pageId);
    if (target === null) return [];
    const pages = await ctx.db.query("pages").collect();
    return pages
      .filter(({ body }) => linksIn(body).includes(target.slug))
      .map(({ title }) => title);
  },
});
