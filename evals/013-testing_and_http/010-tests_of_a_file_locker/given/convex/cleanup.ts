import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { purge } from "./bin";

export const BIN_TIME = 14 * 24 * 60 * 60 * 1000;

/** Clean-ups are planned for shortly after something is due, so that it certainly is. */
export const LITTLE_LATER = 1000;

/** Removes what is due, whoever planned this. */
export const run = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    const now = Date.now();
    const files = await ctx.db
      .query("files")
      .withIndex("by_deletion", (q) => q.gt("deletedAt", null).lte("deletedAt", now - BIN_TIME))
      .collect();
    for (const file of files) await purge(ctx, file._id);
    const uploads = await ctx.db
      .query("uploads")
      .withIndex("by_expiry", (q) => q.lte("expiresAt", now))
      .collect();
    for (const upload of uploads) await ctx.db.delete("uploads", upload._id);
    return null;
  },
});
