import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { fail, isPath, me, shelf } from "./locker";

export const rename = mutation({
  args: { from: v.string(), to: v.string() },
  handler: async (ctx, { from, to }) => {
    const owner = await me(ctx);
    if (![from, to].every(isPath) || `${to}/`.startsWith(`${from}/`)) fail("INVALID");
    let count = 0;
    for (const { _id, path } of await shelf(ctx, owner)) {
      if (!path.startsWith(from + "/")) continue;
      await ctx.db.patch("entries", _id, { path: [to, path.substring(from.length + 1)].join("/") });
      count += 1;
    }
    if (count === 0) fail("EMPTY");
    const paths = (await shelf(ctx, owner)).map(({ path }) => path);
    if (new Set(paths).size < paths.length) fail("EXISTS");
    return count;
  },
});
