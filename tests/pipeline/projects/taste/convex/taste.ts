import { v } from "convex/values";
import { query } from "./_generated/server";

export const odd = query({
  args: { n: v.number() },
  handler: async (ctx, args) => {
    let neverChanged = args.n;
    const unused = 1;
    var old = neverChanged! as number;
    return old;
  },
});
