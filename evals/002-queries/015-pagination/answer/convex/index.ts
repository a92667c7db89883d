import { paginationOptsValidator } from "convex/server";
import { query } from "./_generated/server";

export const listNotes = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    return await ctx.db.query("notes").paginate(args.paginationOpts);
  },
});
