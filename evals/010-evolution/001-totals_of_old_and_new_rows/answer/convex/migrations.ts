import { internalMutation } from "./_generated/server";
import { addToTotal } from "./ledger";

const BATCH = 100;

/** Counts entries from before, and gives every account a total. Returns whether nothing is left to do. */
export const run = internalMutation({
  args: {},
  handler: async (ctx) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_counted", (q) => q.eq("isCounted", undefined))
      .take(BATCH);
    for (const { _id, accountId, cents } of entries) {
      await addToTotal(ctx, accountId, cents);
      await ctx.db.patch("entries", _id, { isCounted: true });
    }
    const accounts = await ctx.db
      .query("accounts")
      .withIndex("by_negative_total_and_name", (q) =>
        q.eq("negativeTotal", undefined),
      )
      .take(BATCH);
    for (const { _id } of accounts) {
      await ctx.db.patch("accounts", _id, { negativeTotal: 0 });
    }
    return entries.length < BATCH && accounts.length < BATCH;
  },
});
