import { paginationOptsValidator, query } from "./_generated/server";

export const page = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await ctx.db.query("messages").paginate(args.paginationOpts),
});
