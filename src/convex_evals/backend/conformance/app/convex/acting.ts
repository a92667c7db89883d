import { v } from "convex/values";
import { api, internal } from "./_generated/api";
import { action, internalAction, internalMutation, internalQuery } from "./_generated/server";

export const addNote = internalMutation({
  args: { body: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("calling_notes", { body: args.body });
  },
});

export const countNotes = internalQuery({
  args: { body: v.string() },
  handler: async (ctx, args) =>
    (await ctx.db.query("calling_notes").collect()).filter((note) => note.body === args.body).length,
});

export const innerAction = internalAction({
  args: { body: v.string() },
  handler: async (ctx, args): Promise<number> => {
    await ctx.runMutation(internal.acting.addNote, args);
    return await ctx.runQuery(internal.acting.countNotes, args);
  },
});

export const chain = action({
  args: { body: v.string() },
  handler: async (ctx, args): Promise<number[]> => {
    const before = await ctx.runQuery(internal.acting.countNotes, args);
    await ctx.runMutation(internal.acting.addNote, args);
    const between = await ctx.runQuery(internal.acting.countNotes, args);
    return [before, between, await ctx.runAction(internal.acting.innerAction, args)];
  },
});

export const commitThenThrow = action({
  args: { body: v.string() },
  handler: async (ctx, args) => {
    await ctx.runMutation(internal.acting.addNote, args);
    throw new Error("too late");
  },
});

export const callsMissing = action({
  args: {},
  handler: async (ctx): Promise<string> => {
    try {
      await ctx.runQuery("acting:doesNotExist" as never, {});
    } catch (error) {
      return (error as Error).message;
    }
    return "found";
  },
});

export const database = action({ args: {}, handler: async (ctx) => typeof (ctx as any).db });

export const unawaited = action({
  args: { body: v.string() },
  handler: async (ctx, args) => {
    void ctx.runMutation(internal.acting.addNote, args);
  },
});

export const sleeps = action({
  args: { ms: v.number() },
  handler: async (_ctx, args) => {
    const start = Date.now();
    await new Promise((resolve) => setTimeout(resolve, args.ms));
    return Date.now() - start;
  },
});

export const identity = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.identity.inQuery, {}) });
