import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation } from "./_generated/server";

export const record = internalMutation({
  args: { url: v.string(), status: v.number(), size: v.number() },
  handler: async (ctx, { url, status, size }) => {
    const page = await ctx.db
      .query("pages")
      .withIndex("by_url", (q) => q.eq("url", url))
      .unique();
    if (page === null) {
      await ctx.db.insert("pages", { url, status, size, checks: 1 });
      return 1;
    }
    const checks = page.checks + 1;
    await ctx.db.patch("pages", page._id, { status, size, checks });
    return checks;
  },
});

export const check = action({
  args: { url: v.string() },
  handler: async (
    ctx,
    { url },
  ): Promise<{ status: number; checks: number }> => {
    const response = await fetch(url);
    const { status } = response;
    const size = (await response.text()).length;
    const checks = await ctx.runMutation(internal.index.record, {
      url,
      status,
      size,
    });
    return { status, checks };
  },
});
