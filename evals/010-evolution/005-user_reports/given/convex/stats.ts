import { v } from "convex/values";
import { query } from "./_generated/server";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many posts were published on a day, like "2026-03-01". */
export const onDay = query({
  args: { groupId: v.id("groups"), day: v.string() },
  handler: async (ctx, { groupId, day }) => {
    const start = Date.parse(`${day}T00:00:00Z`);
    const posts = await ctx.db
      .query("posts")
      .withIndex("by_group_and_time", (q) =>
        q
          .eq("groupId", groupId)
          .gte("publishedAt", start)
          .lte("publishedAt", start + DAY_MS),
      )
      .collect();
    return posts.length;
  },
});

/** Posts per author since the beginning of a day, the most active author first, then by name. */
export const authorsSince = query({
  args: { groupId: v.id("groups"), day: v.string() },
  handler: async (ctx, { groupId, day }) => {
    const start = Date.parse(`${day}T00:00:00Z`);
    const posts = await ctx.db
      .query("posts")
      .withIndex("by_group_and_time", (q) =>
        q.eq("groupId", groupId).gt("publishedAt", start),
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
