import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const one = mutation({
  args: {},
  handler: async (ctx) => {
    await ctx.runMutation(components.counter.public.add, { value: 1 });
    await ctx.runMutation(components.spareCounter.public.add, { value: 2 });
    await ctx.runMutation(components.audit.entries.write.note, { text: "counted", level: "info" });
  },
});

export const total = query({
  args: {},
  handler: async (ctx) => await ctx.runQuery(components.counter.public.sum, { least: 0 }),
});
