import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { populate } from "./lib/populate";

export const feed = query({
  args: {},
  handler: async (ctx) => {
    const posts = await ctx.db.query("posts").collect();
    return await populate(ctx, "posts", posts, {
      author: true,
      reviewer: true,
      tags: true,
      "address.city": true,
    });
  },
});

export const post = query({
  args: { id: v.id("posts") },
  handler: async (ctx, { id }) =>
    await populate(ctx, "posts", await ctx.db.get("posts", id), {
      author: { manager: { manager: true }, home: { country: true } },
      tags: { parent: true },
      "venue.city": { country: true },
      "venue.host": true,
      "related.post": { author: true, "address.city": true },
      roles: { home: true },
      subject: true,
    }),
});

export const timeline = query({
  args: {},
  handler: async (ctx) => {
    const events = await ctx.db.query("events").collect();
    return await populate(ctx, "events", events, {
      who: true,
      where: { country: true },
      by: true,
      "place.city": { country: true },
      cast: { manager: true },
    });
  },
});

/** Who was where, in words. */
export const visits = query({
  args: {},
  handler: async (ctx) => {
    const events = await ctx.db.query("events").collect();
    const visits = events.filter((event) => event.kind === "visit");
    const populated = await populate(ctx, "events", visits, {
      who: true,
      where: { country: true },
    });
    return populated.map(
      ({ who, where }) =>
        `${who?.name ?? "?"} in ${where?.name ?? "?"}, ${where?.country?.name ?? "?"}`,
    );
  },
});

/** The posts with their places in this list, which are no part of the documents. */
export const ranked = query({
  args: {},
  handler: async (ctx) => {
    const posts = await ctx.db.query("posts").order("desc").collect();
    const ranked = posts.map((post, index) => ({ ...post, rank: index + 1 }));
    const populated = await populate(ctx, "posts", ranked, { author: true });
    return populated.map(({ rank, author }) => ({
      rank,
      author: author === null ? null : author.name,
    }));
  },
});

/** Renames a user, and gives the users whose manager that is. */
export const rename = mutation({
  args: { id: v.id("users"), name: v.string() },
  handler: async (ctx, { id, name }) => {
    await ctx.db.patch("users", id, { name });
    const users = await ctx.db.query("users").collect();
    const reports = users.filter((user) => user.manager === id);
    return await populate(ctx, "users", reports, { manager: true });
  },
});
