import { internalMutation } from "./_generated/server";

const BATCH = 100;

/** Gives customers from before their `emailKey`. Returns whether all have one. */
export const run = internalMutation({
  args: {},
  handler: async (ctx) => {
    const customers = await ctx.db
      .query("customers")
      .withIndex("by_email_key", (q) => q.eq("emailKey", undefined))
      .take(BATCH);
    for (const { _id, email } of customers) {
      await ctx.db.patch("customers", _id, { emailKey: email.toLowerCase() });
    }
    return customers.length < BATCH;
  },
});
