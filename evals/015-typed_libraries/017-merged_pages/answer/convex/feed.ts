import {
  paginationOptsValidator,
  paginationResultValidator,
} from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";
import { mergedItem, mergedPage, source } from "./lib/merged";

const order = v.union(v.literal("asc"), v.literal("desc"));

export const byPerson = query({
  args: {
    userId: v.id("users"),
    order,
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(
    mergedItem({ articles: "articles", notes: "notes", media: "media" }),
  ),
  handler: async (ctx, { userId, order, paginationOpts }) => {
    const sources = {
      articles: source("articles", "by_author_and_published", [userId]),
      notes: source("notes", "by_owner_and_time", [userId]),
      media: source("media", "by_owner_and_taken", [userId]),
    };
    return await mergedPage(ctx, sources, { order, paginationOpts });
  },
});

export const names = query({
  args: { section: v.string(), order, paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(
    mergedItem({ people: "users", articles: "articles" }),
  ),
  handler: async (ctx, { section, order, paginationOpts }) => {
    const sources = {
      people: source("users", "by_name", []),
      articles: source("articles", "by_section_and_title", [section]),
    };
    return await mergedPage(ctx, sources, { order, paginationOpts });
  },
});

export const finished = query({
  args: {
    userId: v.id("users"),
    order,
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(
    mergedItem({ articles: "articles", photos: "media" }),
  ),
  handler: async (ctx, { userId, order, paginationOpts }) => {
    const sources = {
      articles: source(
        "articles",
        "by_author_and_published",
        [userId],
        (article) => !article.draft,
      ),
      photos: source(
        "media",
        "by_owner_and_taken",
        [userId],
        (each) => each.kind === "photo",
      ),
    };
    return await mergedPage(ctx, sources, { order, paginationOpts });
  },
});

export const ranked = query({
  args: {
    first: v.string(),
    second: v.string(),
    userId: v.id("users"),
    order,
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(
    mergedItem({ first: "notes", second: "notes", unpinned: "notes" }),
  ),
  handler: async (ctx, { first, second, userId, order, paginationOpts }) => {
    const sources = {
      first: source("notes", "by_language_rank_text", [first]),
      second: source("notes", "by_language_rank_text", [second]),
      unpinned: source("notes", "by_owner_pinned_time", [userId, undefined]),
    };
    return await mergedPage(ctx, sources, { order, paginationOpts });
  },
});

export const recent = query({
  args: {
    userId: v.id("users"),
    order,
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(
    mergedItem({ users: "users", notes: "notes", media: "media" }),
  ),
  handler: async (ctx, { userId, order, paginationOpts }) => {
    const sources = {
      users: source("users", "by_creation_time", []),
      notes: source("notes", "by_owner", [userId]),
      media: source("media", "by_creation_time", []),
    };
    return await mergedPage(ctx, sources, { order, paginationOpts });
  },
});
