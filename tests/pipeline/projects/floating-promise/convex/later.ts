import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";

export const later = mutation({
  args: {},
  handler: async (ctx) => {
    ctx.scheduler.runAfter(0, internal.messages.clear, {});
    [1, 2].forEach(async () => {
      await ctx.db.query("messages").first();
    });
    return 0;
  },
});
