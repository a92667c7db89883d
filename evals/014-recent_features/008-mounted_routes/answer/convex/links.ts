import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const mount = v.union(v.literal("press"), v.literal("help"));

export const add = mutation({
  args: { mount, name: v.string(), target: v.string() },
  returns: v.string(),
  handler: async (ctx, { mount, name, target }): Promise<string> => {
    return await ctx.runMutation(components[mount].links.add, { name, target });
  },
});

export const visits = query({
  args: { mount, name: v.string() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, { mount, name }): Promise<number | null> => {
    return await ctx.runQuery(components[mount].links.visits, { name });
  },
});
