import { createFunctionHandle, type FunctionHandle } from "convex/server";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

/** A handle of a function that nobody outside could name. */
export const ofInternal = query({
  args: {},
  returns: v.string(),
  handler: async (): Promise<string> => await createFunctionHandle(internal.public.addLater),
});

export const callBack = mutation({
  args: { handle: v.string(), text: v.string() },
  handler: async (ctx, { handle, text }) => await ctx.runMutation(handle as FunctionHandle<"mutation">, { text }),
});

export const callBackLater = mutation({
  args: { handle: v.string(), text: v.string() },
  handler: async (ctx, { handle, text }) => {
    await ctx.scheduler.runAfter(0, handle as FunctionHandle<"mutation">, { text });
  },
});

export const callBackFromAction = action({
  args: { handle: v.string(), text: v.string() },
  handler: async (ctx, { handle, text }): Promise<string> =>
    await ctx.runMutation(handle as FunctionHandle<"mutation">, { text }),
});
