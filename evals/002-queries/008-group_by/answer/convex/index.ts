import { v } from "convex/values";
import { query } from "./_generated/server";

export const getTotalsByCategory = query({
  args: { user: v.string() },
  handler: async (ctx, args) => {
    const expenses = await ctx.db
      .query("expenses")
      .withIndex("by_user", (q) => q.eq("user", args.user))
      .collect();
    const groups = new Map<string, { count: number; total: number }>();
    for (const { category, amount } of expenses) {
      const { count, total } = groups.get(category) ?? { count: 0, total: 0 };
      groups.set(category, { count: count + 1, total: total + amount });
    }
    return Array.from(groups, ([category, group]) => ({
      category,
      ...group,
    })).sort(
      (a, b) => b.total - a.total || a.category.localeCompare(b.category),
    );
  },
});
