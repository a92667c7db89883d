import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { text: v.string() },
  returns: v.string(),
  handler: async (ctx, args): Promise<string> => await ctx.runMutation(components.inner.public.add, args),
});

export const list = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx): Promise<string[]> => await ctx.runQuery(components.inner.public.list, {}),
});

export const environment = query({
  args: {},
  handler: async (ctx): Promise<any> => await ctx.runQuery(components.inner.environment.show, {}),
});

export const addAndFail = mutation({
  args: { text: v.string() },
  handler: async (ctx, args): Promise<void> => {
    await ctx.runMutation(components.inner.public.addAndFail, args);
  },
});
