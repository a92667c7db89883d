import { ConvexError, v } from "convex/values";
import {
  internalMutation,
  internalQuery,
  mutation,
  query,
} from "./_generated/server";
import schema, { size } from "./schema";

export const get = query({
  args: { id: v.id("items") },
  returns: v.nullable(schema.doc("items")),
  handler: async (ctx, { id }) => await ctx.db.get("items", id),
});

export const list = query({
  args: { size: v.optional(size), limit: v.optional(v.number()) },
  returns: v.array(v.string()),
  handler: async (ctx, args) => {
    const items = await ctx.db.query("items").take(args.limit ?? 100);
    return items
      .filter((item) => args.size === undefined || item.size === args.size)
      .map((item) => item.title);
  },
});

export const count = internalQuery({
  args: {},
  returns: v.number(),
  handler: async (ctx) => (await ctx.db.query("items").collect()).length,
});

export const withTags = internalQuery({
  args: {
    tags: v.array(v.string()),
    mode: v.union(
      v.object({ kind: v.literal("all") }),
      v.object({ kind: v.literal("some"), atLeast: v.number() }),
    ),
  },
  returns: v.array(v.object({ title: v.string(), hits: v.number() })),
  handler: async (ctx, { tags, mode }) => {
    const needed = mode.kind === "all" ? tags.length : mode.atLeast;
    const items = await ctx.db.query("items").collect();
    return items
      .map((item) => ({
        title: item.title,
        hits: tags.filter((tag) => item.tags.includes(tag)).length,
      }))
      .filter(({ hits }) => hits >= needed);
  },
});

export const title = internalQuery({
  args: { id: v.id("items") },
  returns: v.string(),
  handler: async (ctx, { id }) => {
    const item = await ctx.db.get("items", id);
    if (item === null) throw new ConvexError({ code: "NO_ITEM", id });
    return item.title;
  },
});

export const create = mutation({
  args: {
    title: v.string(),
    tags: v.array(v.string()),
    size,
    note: v.optional(v.string()),
  },
  returns: v.id("items"),
  handler: async (ctx, args) => {
    await ctx.db.insert("log", { text: `create ${args.title}` });
    if (args.title === "") throw new Error("An item needs a title");
    return await ctx.db.insert("items", args);
  },
});

export const rename = internalMutation({
  args: { id: v.id("items"), title: v.string() },
  returns: v.object({ before: v.string() }),
  handler: async (ctx, { id, title }) => {
    await ctx.db.insert("log", { text: `rename to ${title}` });
    const item = await ctx.db.get("items", id);
    if (item === null) throw new ConvexError({ code: "NO_ITEM", id });
    await ctx.db.patch("items", id, { title });
    return { before: item.title };
  },
});

export const clear = internalMutation({
  args: { size: v.optional(size) },
  returns: v.number(),
  handler: async (ctx, args) => {
    await ctx.db.insert("log", { text: `clear ${args.size ?? "all"}` });
    const items = await ctx.db.query("items").collect();
    const chosen = items.filter(
      (item) => args.size === undefined || item.size === args.size,
    );
    for (const item of chosen) await ctx.db.delete("items", item._id);
    return chosen.length;
  },
});
