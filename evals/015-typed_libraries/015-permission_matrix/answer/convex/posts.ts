import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { actorOf } from "./actors";
import { permissions } from "./permissions";

const posts = permissions.on("posts");

export const list = query({
  args: {},
  returns: v.array(posts.validator()),
  handler: async (ctx) =>
    posts.list(await actorOf(ctx), await ctx.db.query("posts").collect()),
});

export const teasers = query({
  args: {},
  returns: v.array(posts.validator("guest")),
  handler: async (ctx) => {
    const published = await ctx.db
      .query("posts")
      .withIndex("by_status", (q) => q.eq("status", "published"))
      .collect();
    return published.map((post) => posts.view(post, "guest"));
  },
});

export const publish = mutation({
  args: { id: v.id("posts") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    const post = await ctx.db.get("posts", id);
    if (post === null) return null;
    permissions.ensure(ctx, await actorOf(ctx), "publish", post);
    await ctx.db.patch("posts", id, { status: "published" });
    return null;
  },
});
