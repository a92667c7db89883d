import type { Doc } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

/** The version of a manual in this state, of which there is at most one. */
export async function versionIn(
  ctx: QueryCtx,
  { shop, slug }: { shop: string; slug: string },
  state: "indexing" | "current",
): Promise<Doc<"versions"> | null> {
  return await ctx.db
    .query("versions")
    .withIndex("by_manual", (q) =>
      q.eq("shop", shop).eq("slug", slug).eq("state", state),
    )
    .unique();
}
