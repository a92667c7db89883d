import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

export const one = mutation({
  args: {},
  handler: async (ctx) => await ctx.runMutation(components.counter.public.add, { value: 1 }),
});
