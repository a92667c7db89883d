import { ConvexError } from "convex/values";
import type { Doc } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

export async function findPost(
  ctx: QueryCtx,
  slug: string,
): Promise<Doc<"posts"> | null> {
  return await ctx.db
    .query("posts")
    .withIndex("by_slug", (q) => q.eq("slug", slug))
    .unique();
}

export async function requirePost(
  ctx: QueryCtx,
  slug: string,
): Promise<Doc<"posts">> {
  const post = await findPost(ctx, slug);
  if (post === null) {
    throw new ConvexError({ code: "POST_NOT_FOUND" });
  }
  return post;
}
