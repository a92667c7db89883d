import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

/** The page that a slug leads to. */
export async function pageAt(
  ctx: QueryCtx,
  slug: string,
): Promise<Doc<"pages"> | null> {
  const holder = await ctx.db
    .query("pages")
    .withIndex("by_slug", (q) => q.eq("slug", slug))
    .first();
  if (holder) return holder;
  const last = await ctx.db
    .query("formerSlugs")
    .withIndex("by_slug", (q) => q.eq("slug", slug))
    .order("desc")
    .first();
  return last && (await ctx.db.get("pages", last.pageId));
}

export async function formerSlugsOf(ctx: QueryCtx, pageId: Id<"pages">) {
  return await ctx.db
    .query("formerSlugs")
    .withIndex("by_page", (q) => q.eq("pageId", pageId))
    .collect();
}
