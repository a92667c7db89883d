import { v } from "convex/values";
import { query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { requireOwner } from "./access";

export async function usageOf(ctx: QueryCtx, owner: string) {
  const contents = await ctx.db
    .query("contents")
    .withIndex("by_owner_and_hash", (q) => q.eq("owner", owner))
    .collect();
  const uploads = await ctx.db
    .query("uploads")
    .withIndex("by_owner", (q) => q.eq("owner", owner))
    .collect();
  return {
    used: contents.reduce((sum, { size }) => sum + size, 0),
    reserved: uploads.reduce((sum, { size }) => sum + size, 0),
  };
}

export const usage = query({
  args: {},
  returns: v.object({ used: v.number(), reserved: v.number() }),
  handler: async (ctx) => await usageOf(ctx, await requireOwner(ctx)),
});
