import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { deleteEntry, insertEntry } from "./ledger";

export const make = mutation({
  args: {
    from: v.id("accounts"),
    to: v.id("accounts"),
    cents: v.number(),
  },
  handler: async (ctx, { from, to, cents }) => {
    const transferId = await ctx.db.insert("transfers", { from, to, cents });
    await insertEntry(ctx, {
      accountId: from,
      cents: -cents,
      note: "transfer",
      transferId,
    });
    await insertEntry(ctx, {
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
      await deleteEntry(ctx, entry._id);
    }
    await ctx.db.delete("transfers", transferId);
    return null;
  },
});
