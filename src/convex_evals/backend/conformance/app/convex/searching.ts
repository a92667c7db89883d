import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { api } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

const note = v.object({
  body: v.any(),
  tag: v.string(),
  channel: v.optional(v.string()),
  author: v.optional(v.string()),
});

export const fill = mutation({
  args: { notes: v.array(note) },
  handler: async (ctx, args) => {
    for (const old of await ctx.db.query("searching_notes").collect()) await ctx.db.delete(old._id);
    for (const one of args.notes) await ctx.db.insert("searching_notes", one);
  },
});

export const add = mutation({ args: { note }, handler: async (ctx, args) => await ctx.db.insert("searching_notes", args.note) });

export const find = query({
  args: {
    text: v.string(),
    eq: v.optional(v.array(v.object({ field: v.string(), value: v.string() }))),
    field: v.optional(v.string()),
    take: v.optional(v.number()),
  },
  handler: async (ctx, args) => {
    const found = ctx.db.query("searching_notes").withSearchIndex("search_body", (q: any) => {
      let filter = q.search(args.field ?? "body", args.text);
      for (const { field, value } of args.eq ?? []) filter = filter.eq(field, value);
      return filter;
    });
    const rows = args.take === undefined ? await found.collect() : await found.take(args.take);
    return rows.map((row) => row.tag);
  },
});

export const findWithoutChannel = query({
  args: { text: v.string() },
  handler: async (ctx, args) =>
    (
      await ctx.db
        .query("searching_notes")
        .withSearchIndex("search_body", (q) => q.search("body", args.text).eq("channel", undefined))
        .collect()
    ).map((row) => row.tag),
});

export const findWithoutSearch = query({
  args: {},
  handler: async (ctx) =>
    await ctx.db
      .query("searching_notes")
      .withSearchIndex("search_body", ((q: any) => q.eq("channel", "a")) as never)
      .collect(),
});

export const ordered = query({
  args: {},
  handler: async (ctx) =>
    await (ctx.db.query("searching_notes").withSearchIndex("search_body", (q) => q.search("body", "x")) as any)
      .order("desc")
      .collect(),
});

export const ownWrites = mutation({
  args: {},
  handler: async (ctx) => {
    const search = async () =>
      (await ctx.db.query("searching_notes").withSearchIndex("search_body", (q) => q.search("body", "fresh")).collect()).map(
        (row) => row.tag,
      );
    const before = await search();
    const id = await ctx.db.insert("searching_notes", { body: "fresh words", tag: "own" });
    const inserted = await search();
    await ctx.db.delete(id);
    return { before, inserted, deleted: await search() };
  },
});

export const page = query({
  args: { text: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    const result = await ctx.db
      .query("searching_notes")
      .withSearchIndex("search_body", (q) => q.search("body", args.text))
      .paginate(args.paginationOpts);
    return { ...result, page: result.page.map((row) => row.tag) };
  },
});

const point = v.object({
  tag: v.string(),
  embedding: v.optional(v.any()),
  genre: v.optional(v.string()),
  lang: v.optional(v.string()),
});

export const fillVectors = mutation({
  args: { points: v.array(point) },
  handler: async (ctx, args) => {
    for (const old of await ctx.db.query("searching_vectors").collect()) await ctx.db.delete(old._id);
    for (const one of args.points) await ctx.db.insert("searching_vectors", one);
  },
});

export const tagOf = query({
  args: { id: v.id("searching_vectors") },
  handler: async (ctx, args) => (await ctx.db.get(args.id))?.tag ?? null,
});

export const moveVector = mutation({
  args: { tag: v.string(), embedding: v.optional(v.array(v.number())) },
  handler: async (ctx, args) => {
    const rows = await ctx.db.query("searching_vectors").collect();
    const row = rows.find((one) => one.tag === args.tag)!;
    if (args.embedding === undefined) await ctx.db.delete(row._id);
    else await ctx.db.patch(row._id, { embedding: args.embedding });
  },
});

export const nearest = action({
  args: {
    vector: v.array(v.number()),
    limit: v.optional(v.number()),
    or: v.optional(v.array(v.object({ field: v.string(), value: v.string() }))),
  },
  handler: async (ctx, args): Promise<{ tag: string | null; score: number }[]> => {
    const filter =
      args.or === undefined ? undefined : (q: any) => q.or(...args.or!.map(({ field, value }) => q.eq(field, value)));
    const results = await ctx.vectorSearch("searching_vectors", "by_embedding", {
      vector: args.vector,
      ...(args.limit === undefined ? {} : { limit: args.limit }),
      ...(filter === undefined ? {} : { filter }),
    });
    const found = [];
    for (const { _id, _score } of results)
      found.push({ tag: await ctx.runQuery(api.searching.tagOf, { id: _id }), score: _score });
    return found;
  },
});
