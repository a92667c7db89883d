import { createFunctionHandle } from "convex/server";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const increase = mutation({
  args: {},
  handler: async (ctx): Promise<number> => await ctx.runMutation(components.counter.public.increase, {}),
});

export const handle = query({
  args: {},
  handler: async (): Promise<string> => await createFunctionHandle(components.counter.public.increase),
});

export const callHandle = mutation({
  args: { handle: v.string() },
  handler: async (ctx, { handle }): Promise<number> => await ctx.runMutation(handle as any, {}),
});
