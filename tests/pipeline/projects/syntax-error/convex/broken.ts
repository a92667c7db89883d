import { query } from "./_generated/server";

export const items = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("messages").).order("desc").collect(),
});
