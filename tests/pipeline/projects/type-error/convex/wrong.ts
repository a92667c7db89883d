import { query } from "./_generated/server";

export const count = query({
  args: {},
  handler: async (ctx): Promise<number> => (await ctx.db.query("messages").collect()).map((m) => m.title),
});
