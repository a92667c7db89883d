import { v } from "convex/values";
import { query } from "./_generated/server";
import { pageAt } from "./history";
import { linksIn } from "./slugs";

/** What a page links to, in the order of its text: the slugs, and the pages that they lead to. */
export const from = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    const page = await ctx.db.get("pages", pageId);
    const result = [];
    for (const slug of linksIn(page?.body ?? "")) {
      const target = await pageAt(ctx, slug);
      result.push({ slug, pageId: target?._id ?? null });
    }
    return result;
  },
});

/** The titles of the pages that link to a page, oldest page first. */
export const to = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    const titles = [];
    for (const { title, body } of await ctx.db.query("pages").collect()) {
      for (const slug of linksIn(body)) {
        if ((await pageAt(ctx, slug))?._id !== pageId) continue;
        titles.push(title);
        break;
      }
    }
    return titles;
  },
});
