import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { findPost, requirePost } from "./lib/posts";
import { slugify } from "./lib/slugs";

export const create = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => {
    const slug = slugify(title);
    if ((await findPost(ctx, slug)) !== null) {
      throw new ConvexError({ code: "SLUG_TAKEN" });
    }
    await ctx.db.insert("posts", { title, slug });
    return slug;
  },
});

export const rename = mutation({
  args: { slug: v.string(), title: v.string() },
  handler: async (ctx, { slug, title }) => {
    const post = await requirePost(ctx, slug);
    const newSlug = slugify(title);
    if (newSlug !== slug && (await findPost(ctx, newSlug)) !== null) {
      throw new ConvexError({ code: "SLUG_TAKEN" });
    }
    await ctx.db.patch("posts", post._id, { title, slug: newSlug });
    return newSlug;
  },
});

export const get = query({
  args: { slug: v.string() },
  handler: async (ctx, args) => {
    const { title, slug } = await requirePost(ctx, args.slug);
    return { title, slug };
  },
});
