import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

const PAGE = 10;

// Where a page ends: the last post's place in the index. Apps that were open
// when this was deployed have only its time, as a number.
const place = v.object({ publishedAt: v.number(), storedAt: v.number() });

/** The posts of a group, newest first. `next` of a page is `before` of the page that follows. */
export const page = query({
  args: {
    groupId: v.id("groups"),
    before: v.optional(v.union(v.number(), place)),
  },
  handler: async (ctx, { groupId, before }) => {
    const found = await postsBefore(ctx, groupId, before ?? Infinity);
    const posts = found.slice(0, PAGE);
    const last = posts.at(-1);
    return {
      posts: posts.map(({ _id, author, text, publishedAt }) => ({
        id: _id,
        author,
        text,
        publishedAt,
      })),
      next:
        found.length > PAGE && last
          ? { publishedAt: last.publishedAt, storedAt: last._creationTime }
          : null,
    };
  },
});

/** The posts of a page and one more, if there is one. */
async function postsBefore(
  ctx: QueryCtx,
  groupId: Id<"groups">,
  before: number | typeof place.type,
): Promise<Doc<"posts">[]> {
  const atTheSameTime =
    typeof before === "number"
      ? []
      : await ctx.db
          .query("posts")
          .withIndex("by_group_and_time", (q) =>
            q
              .eq("groupId", groupId)
              .eq("publishedAt", before.publishedAt)
              .lt("_creationTime", before.storedAt),
          )
          .order("desc")
          .take(PAGE + 1);
  const time = typeof before === "number" ? before : before.publishedAt;
  const earlier = await ctx.db
    .query("posts")
    .withIndex("by_group_and_time", (q) =>
      q.eq("groupId", groupId).lt("publishedAt", time),
    )
    .order("desc")
    .take(PAGE + 1);
  return [...atTheSameTime, ...earlier];
}
