import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const make = mutation({
  args: {
    from: v.id("accounts"),
    to: v.id("accounts"),
    cents: v.number(),
  },
  handler: async (ctx, { from, to, cents }) => {
    const transferId = await ctx.db.insert("transfers", { from, to, cents });
    await ctx.db.insert("entries", {
      accountId: from,
      cents: -cents,
      note: "transfer",
      transferId,
    });
    await ctx.db.insert("entries", {
      accountId: to,
      cents,
      note: "transfer",
      transferId,
    });
    return transferId;
  },
});

/** Deletes the transfer and the entries it has made, as far as they still exist. */
export const undo = mutation({
  args: { transferId: v.id("transfers") },
  handler: async (ctx, { transferId }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_transfer", (q) => q.eq("transferId", transferId))
      .collect();
    for (const entry of entries) {
      await ctx.db.delete("entries", entry._id);
    }
    await ctx.db.delete("transfers", transferId);
    return null;
  },
});
