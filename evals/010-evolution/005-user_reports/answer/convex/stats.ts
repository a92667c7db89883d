import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Midnight in the group's time zone. */
async function beginningOf(ctx: QueryCtx, groupId: Id<"groups">, day: string) {
  const group = await ctx.db.get("groups", groupId);
  const utcOffset = group?.utcOffset ?? 0;
  return Date.parse(`${day}T00:00:00Z`) - utcOffset * MINUTE_MS;
}

/** How many posts were published on a day, like "2026-03-01". */
export const onDay = query({
  args: { groupId: v.id("groups"), day: v.string() },
  handler: async (ctx, { groupId, day }) => {
    const start = await beginningOf(ctx, groupId, day);
    const posts = await ctx.db
      .query("posts")
      .withIndex("by_group_and_time", (q) =>
        q
          .eq("groupId", groupId)
          .gte("publishedAt", start)
          .lt("publishedAt", start + DAY_MS),
      )
      .collect();
    return posts.length;
  },
});

/** Posts per author since the beginning of a day, the most active author first, then by name. */
export const authorsSince = query({
  args: { groupId: v.id("groups"), day: v.string() },
  handler: async (ctx, { groupId, day }) => {
    const start = await beginningOf(ctx, groupId, day);
    const posts = await ctx.db
      .query("posts")
      .withIndex("by_group_and_time", (q) =>
        q.eq("groupId", groupId).gte("publishedAt", start),
      )
      .collect();
    const counts = new Map<string, number>();
    for (const { author } of posts) {
      counts.set(author, (counts.get(author) ?? 0) + 1);
    }
    return [...counts]
      .map(([author, count]) => ({ author, count }))
      .sort((a, b) => b.count - a.count || (a.author < b.author ? -1 : 1));
  },
});
