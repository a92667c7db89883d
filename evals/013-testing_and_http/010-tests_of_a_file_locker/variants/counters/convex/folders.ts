import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { caller, get, no, valid } from "./base";

export const rename = mutation({
  args: { from: v.string(), to: v.string() },
  handler: async (ctx, { from, to }) => {
    const owner = await caller(ctx);
    if (!(valid(from) && valid(to)) || from === to || to.startsWith(`${from}/`)) no("INVALID");
    const inside = await ctx.db
      .query("shelf")
      .withIndex("by_name", (q) => q.eq("owner", owner).gte("name", `${from}/`).lt("name", `${from}0`))
      .collect();
    if (!inside.length) no("EMPTY");
    for (const { name } of inside) {
      const there = await get(ctx, owner, name.replace(from, to));
      if (there !== null && !inside.some(({ _id }) => _id === there._id)) no("EXISTS");
    }
    for (const { _id, name } of inside) await ctx.db.patch("shelf", _id, { name: name.replace(from, to) });
    return inside.length;
  },
});
