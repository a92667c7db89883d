import { ConvexError, v } from "convex/values";
import { components } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";

/** One note in the app and one in each instance. */
export const addEverywhere = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<string[]> => [
    await ctx.db.insert("notes", { text: `${text} of the app` }),
    await ctx.runMutation(components.notebook.public.add, { text: `${text} of the first` }),
    await ctx.runMutation(components.second.public.add, { text: `${text} of the second` }),
    await ctx.runMutation(components.outer.relay.add, { text: `${text} of the inner` }),
  ],
});

export const listEverywhere = query({
  args: {},
  handler: async (ctx): Promise<Record<string, string[]>> => ({
    app: (await ctx.db.query("notes").collect()).map((note) => note.text),
    first: await ctx.runQuery(components.notebook.public.list, {}),
    second: await ctx.runQuery(components.second.public.list, {}),
    inner: await ctx.runQuery(components.outer.relay.list, {}),
  }),
});

export const add = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<string> => await ctx.db.insert("notes", { text }),
});

/** Writes before, in and after a call that fails, and tells what it caught. */
export const surviveFailure = mutation({
  args: { data: v.optional(v.any()) },
  handler: async (ctx, { data }): Promise<{ message: string; data: unknown }> => {
    await ctx.db.insert("notes", { text: "before" });
    await ctx.runMutation(components.notebook.public.add, { text: "before" });
    let caught: { message: string; data: unknown } = { message: "", data: null };
    try {
      await ctx.runMutation(components.notebook.public.addAndFail, { text: "lost", data });
    } catch (error: any) {
      caught = { message: error.message, data: error instanceof ConvexError ? error.data : null };
    }
    await ctx.db.insert("notes", { text: "after" });
    await ctx.runMutation(components.notebook.public.add, { text: "after" });
    return caught;
  },
});

/** The failure comes from two borders away. */
export const failDeepInside = mutation({
  args: {},
  handler: async (ctx) => {
    await ctx.db.insert("notes", { text: "lost" });
    await ctx.runMutation(components.notebook.public.add, { text: "lost" });
    await ctx.runMutation(components.outer.relay.add, { text: "lost" });
    await ctx.runMutation(components.outer.relay.addAndFail, { text: "lost" });
  },
});

export const environments = query({
  args: {},
  handler: async (ctx): Promise<any> => ({
    first: await ctx.runQuery(components.notebook.environment.show, {}),
    second: await ctx.runQuery(components.second.environment.show, {}),
    inner: await ctx.runQuery(components.outer.relay.environment, {}),
  }),
});

export const clear = mutation({
  args: {},
  handler: async (ctx) => {
    for (const note of await ctx.db.query("notes").collect()) await ctx.db.delete(note._id);
  },
});
