import type { Board } from "../src/App";
import { api } from "./_generated/api";
import { internalQuery } from "./_generated/server";

/** Everything that the page shows at first, for the visitor who asks. It is one transaction, so it fits together. */
export const board = internalQuery({
  args: {},
  handler: async (ctx): Promise<Board> => ({
    notices: await ctx.runQuery(api.board.list, {}),
    totals: await ctx.runQuery(api.board.totals, {}),
    me: (await ctx.auth.getUserIdentity()) === null ? null : await ctx.runQuery(api.board.me, {}),
  }),
});
