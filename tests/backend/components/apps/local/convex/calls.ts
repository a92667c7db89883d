import { createFunctionHandle, makeFunctionReference } from "convex/server";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

const kind = v.union(v.literal("query"), v.literal("mutation"), v.literal("action"));

/** A reference that the generated types do not offer: below `components`, at any depth. */
const reference = (path: string[]): any => path.reduce((found: any, part) => found[part], components);

export const byQuery = query({
  args: { path: v.array(v.string()), args: v.any(), as: v.literal("query") },
  handler: async (ctx, { path, args }): Promise<any> => await ctx.runQuery(reference(path), args),
});

export const byMutation = mutation({
  args: { path: v.array(v.string()), args: v.any(), as: kind },
  handler: async (ctx, { path, args, as }): Promise<any> =>
    as === "query" ? await ctx.runQuery(reference(path), args) : await ctx.runMutation(reference(path), args),
});

export const byAction = action({
  args: { path: v.array(v.string()), args: v.any(), as: kind },
  handler: async (ctx, { path, args, as }): Promise<any> => {
    const calls = { query: ctx.runQuery, mutation: ctx.runMutation, action: ctx.runAction };
    return await (calls[as] as any)(reference(path), args);
  },
});

export const schedule = mutation({
  args: { path: v.array(v.string()), args: v.any() },
  handler: async (ctx, { path, args }): Promise<string> => await ctx.scheduler.runAfter(0, reference(path), args),
});

export const handleOf = query({
  args: { path: v.array(v.string()) },
  handler: async (_, { path }): Promise<string> => await createFunctionHandle(reference(path)),
});

export const callHandle = mutation({
  args: { handle: v.string(), args: v.any() },
  handler: async (ctx, { handle, args }): Promise<any> => await ctx.runMutation(handle as any, args),
});

/** Hands an internal function of the app to a component, which calls it at once, later, or from an action. */
export const lend = mutation({
  args: { text: v.string(), later: v.boolean() },
  handler: async (ctx, { text, later }): Promise<string | null> => {
    const handle = await createFunctionHandle(internal.notes.add);
    const callee = later ? components.second.handles.callBackLater : components.second.handles.callBack;
    return await ctx.runMutation(callee, { handle, text });
  },
});

export const lendFromAction = action({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<string> => {
    const handle = await createFunctionHandle(internal.notes.add);
    return await ctx.runAction(components.second.handles.callBackFromAction, { handle, text });
  },
});

export const jobs = query({
  args: {},
  handler: async (ctx) =>
    (await ctx.db.system.query("_scheduled_functions").collect()).map(({ name, state }) => [name, state.kind]),
});

export const descend = mutation({
  args: { left: v.number() },
  handler: async (ctx, { left }): Promise<number> => {
    if (left === 0) return 0;
    const itself = makeFunctionReference<"mutation", { left: number }, number>("calls:descend");
    return 1 + (await ctx.runMutation(itself, { left: left - 1 }));
  },
});
