import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const hit = mutation({
  args: {},
  handler: async (ctx) => {
    await ctx.runMutation(components.counter.lib.increment, {});
  },
});

export const hits = query({
  args: {},
  handler: async (ctx): Promise<number> => await ctx.runQuery(components.counter.lib.total, {}),
});
