import { query } from "./_generated/server";

async function first(ctx: { db: { query: (table: string) => any } }) {
  return await ctx.db.query("messages").first();
}

export const one = query({ args: {}, handler: async (ctx) => (await first(ctx as never)) as string });
