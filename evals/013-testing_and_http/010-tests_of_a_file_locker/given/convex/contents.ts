import type { Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

export async function findContent(ctx: QueryCtx, owner: string, hash: string) {
  return await ctx.db
    .query("contents")
    .withIndex("by_owner_and_hash", (q) => q.eq("owner", owner).eq("hash", hash))
    .unique();
}

/** A version with this content is gone. If it was the last one, the content goes, too. */
export async function release(ctx: MutationCtx, contentId: Id<"contents">) {
  const version = await ctx.db
    .query("versions")
    .withIndex("by_content", (q) => q.eq("contentId", contentId))
    .first();
  if (version !== null) return;
  const content = await ctx.db.get("contents", contentId);
  if (content === null) return;
  await ctx.storage.delete(content.storageId);
  await ctx.db.delete("contents", contentId);
}
