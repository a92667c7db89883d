import { paginator } from "convex-helpers/server/pagination";
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";
import schema from "./schema";

export const add = mutation({
  args: { text: v.string() },
  returns: v.id("notes"),
  handler: async (ctx, { text }) => {
    console.log("adding", text);
    return await ctx.db.insert("notes", { text });
  },
});

export const get = query({
  args: { id: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { id }) => {
    const own = ctx.db.normalizeId("notes", id);
    return own === null ? null : ((await ctx.db.get(own))?.text ?? null);
  },
});

export const getById = query({
  args: { id: v.id("notes") },
  handler: async (ctx, { id }) => (await ctx.db.get(id))?.text ?? null,
});

export const list = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("notes").collect()).map((note) => note.text),
});

export const page = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("notes").paginate({ numItems: 2, cursor: null }),
});

export const pageByIndex = query({
  args: { cursor: v.union(v.string(), v.null()) },
  handler: async (ctx, { cursor }) => {
    const options = { numItems: 2, cursor };
    const found = await paginator(ctx.db, schema).query("notes").withIndex("by_text").order("asc").paginate(options);
    return { ...found, page: found.page.map((note) => note.text) };
  },
});

export const addAndFail = mutation({
  args: { text: v.string(), data: v.optional(v.any()) },
  handler: async (ctx, { text, data }) => {
    await ctx.db.insert("notes", { text });
    await ctx.scheduler.runAfter(0, internal.public.addLater, { text: `${text}, scheduled` });
    throw data === undefined ? new Error("no more paper") : new ConvexError(data);
  },
});

export const addLater = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    await ctx.db.insert("notes", { text });
  },
});

export const whoAmI = query({
  args: {},
  handler: async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null,
});

export const wrongReturn = query({
  args: {},
  returns: v.number(),
  handler: async (): Promise<any> => "a string",
});
