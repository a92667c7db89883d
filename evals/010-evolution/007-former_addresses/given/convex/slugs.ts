import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

function slugOf(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ["page"];
  return words.join("-");
}

/** The slug for a title: the first of foo, foo-2, foo-3 and so on that no other page has. */
export async function freeSlug(
  ctx: QueryCtx,
  title: string,
  pageId?: Id<"pages">,
): Promise<string> {
  const base = slugOf(title);
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    const holder = await ctx.db
      .query("pages")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .first();
    if (holder === null || holder._id === pageId) return slug;
  }
}

/** The slugs that a text links to, like [[foo-2]], each once. */
export function linksIn(body: string): string[] {
  const links = [...body.matchAll(/\[\[([a-z0-9-]+)\]\]/g)];
  return [...new Set(links.map(([, slug]) => slug))];
}
