import { mutation } from "./_generated/server";

export const forget = mutation(async (ctx, args: { days: number }) => {
  const before = Date.now() - args.days * 24 * 60 * 60 * 1000;
  const old = await ctx.db
    .query("deliveries")
    .withIndex("by_creation_time", (q) => q.lt("_creationTime", before))
    .take(1000);
  for (const delivery of old) await ctx.db.delete("deliveries", delivery._id);
  return old.length;
});
