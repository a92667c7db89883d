import { query } from "../../_generated/server";
import { api } from "../../_generated/api";

export const same = query({
  args: {},
  handler: async (ctx): Promise<string[]> => await ctx.runQuery(api.messages.list, { author: "me" }),
});
