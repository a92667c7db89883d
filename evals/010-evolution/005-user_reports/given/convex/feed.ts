import { v } from "convex/values";
import { query } from "./_generated/server";

const PAGE = 10;

/** The posts of a group, newest first. `next` of a page is `before` of the page that follows. */
export const page = query({
  args: { groupId: v.id("groups"), before: v.optional(v.number()) },
  handler: async (ctx, { groupId, before }) => {
    const posts = await ctx.db
      .query("posts")
      .withIndex("by_group_and_time", (q) =>
        q.eq("groupId", groupId).lt("publishedAt", before ?? Infinity),
      )
      .order("desc")
      .take(PAGE);
    return {
      posts: posts.map(({ _id, author, text, publishedAt }) => ({
        id: _id,
        author,
        text,
        publishedAt,
      })),
      next: posts.length === PAGE ? posts[PAGE - 1].publishedAt : null,
    };
  },
});
