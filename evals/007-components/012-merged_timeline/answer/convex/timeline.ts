import { mergedStream, stream } from "convex-helpers/server/stream";
import { paginationOptsValidator, type PaginationOptions } from "convex/server";
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import { memberQuery, type MemberQueryCtx } from "./functions";
import schema from "./schema";

const MOST_LOOKED_THROUGH = 60;

interface Post {
  id: Id<"posts">;
  author: string;
  topic: string;
  text: string;
}

type Item =
  | { kind: "post"; at: number; post: Post }
  | { kind: "repost"; at: number; id: Id<"reposts">; by: string; post: Post }
  | { kind: "notice"; at: number; id: Id<"notices">; text: string };

export const page = memberQuery({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    const { people, blocked } = await peopleOf(ctx);
    const posts = people.map((author) =>
      stream(ctx.db, schema)
        .query("posts")
        .withIndex("by_author", (q) =>
          q.eq("author", author).eq("state", "visible"),
        )
        .order("desc")
        .map<Item>(async (post) => ({
          kind: "post",
          at: post.at,
          post: await shownPost(ctx, post),
        })),
    );
    const reposts = people.map((member) =>
      stream(ctx.db, schema)
        .query("reposts")
        .withIndex("by_member", (q) => q.eq("member", member))
        .order("desc")
        .map<Item>(async (repost) => {
          const post = await visiblePost(ctx, repost.post, blocked);
          return (
            post && {
              kind: "repost",
              at: repost.at,
              id: repost._id,
              by: await handleOf(ctx, member),
              post,
            }
          );
        }),
    );
    const notices = stream(ctx.db, schema)
      .query("notices")
      .withIndex("by_time")
      .order("desc")
      .map<Item>(({ _id, at, text }) =>
        Promise.resolve({ kind: "notice", at, id: _id, text }),
      );
    return await mergedStream<Item>(
      [...posts, ...reposts, notices],
      ["at"],
    ).paginate(limited(paginationOpts));
  },
});

export const authors = memberQuery({
  args: { topic: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { topic, paginationOpts }) => {
    const blocked = await blockedBy(ctx);
    return await stream(ctx.db, schema)
      .query("posts")
      .withIndex("by_topic", (q) => q.eq("topic", topic).eq("state", "visible"))
      .order("desc")
      .distinct(["author"])
      .map(async (post) =>
        blocked.has(post.author)
          ? null
          : { at: post.at, post: await shownPost(ctx, post) },
      )
      .paginate(limited(paginationOpts));
  },
});

export const topics = memberQuery({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    const { people } = await peopleOf(ctx);
    const posts = people.map((author) =>
      stream(ctx.db, schema)
        .query("posts")
        .withIndex("by_author_and_topic", (q) =>
          q.eq("author", author).eq("state", "visible"),
        )
        .order("desc"),
    );
    return await mergedStream(posts, ["topic", "at"])
      .distinct(["topic"])
      .map(async (post) => ({
        topic: post.topic,
        at: post.at,
        post: await shownPost(ctx, post),
      }))
      .paginate(limited(paginationOpts));
  },
});

function limited(paginationOpts: PaginationOptions) {
  return { ...paginationOpts, maximumRowsRead: MOST_LOOKED_THROUGH };
}

async function blockedBy(ctx: MemberQueryCtx): Promise<Set<Id<"members">>> {
  const blocks = await ctx.db
    .query("blocks")
    .withIndex("by_blocker", (q) => q.eq("blocker", ctx.member._id))
    .collect();
  return new Set(blocks.map(({ blocked }) => blocked));
}

/** Who is in the caller's timeline. */
async function peopleOf(ctx: MemberQueryCtx) {
  const blocked = await blockedBy(ctx);
  const follows = await ctx.db
    .query("follows")
    .withIndex("by_follower", (q) => q.eq("follower", ctx.member._id))
    .collect();
  const people = new Set([
    ctx.member._id,
    ...follows.map(({ followed }) => followed),
  ]);
  return { people: [...people].filter((each) => !blocked.has(each)), blocked };
}

async function visiblePost(
  ctx: QueryCtx,
  id: Id<"posts">,
  blocked: Set<Id<"members">>,
): Promise<Post | null> {
  const post = await ctx.db.get("posts", id);
  if (post === null || post.state === "removed" || blocked.has(post.author)) {
    return null;
  }
  return await shownPost(ctx, post);
}

async function shownPost(
  ctx: QueryCtx,
  { _id, author, topic, text }: Doc<"posts">,
): Promise<Post> {
  return { id: _id, author: await handleOf(ctx, author), topic, text };
}

async function handleOf(ctx: QueryCtx, id: Id<"members">): Promise<string> {
  return (await ctx.db.get("members", id))?.handle ?? "";
}
