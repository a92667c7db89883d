import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";

export const tick = internalMutation({
  args: {},
  handler: async (ctx) => {
    await ctx.db.insert("ticks", { at: Date.now() });
  },
});

export const count = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => (await ctx.db.query("ticks").collect()).length,
});

export const jobs = query({
  args: {},
  handler: async (ctx) =>
    (await ctx.db.system.query("_scheduled_functions").collect()).map(({ name, state }) => [name, state.kind]),
});
