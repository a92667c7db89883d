import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import { RULES, type Rule } from "./registry";

const ALLOWANCE = {
  documentsRead: 200,
  documentsWritten: 20,
  functionsScheduled: 3,
};

const verdicts = v.array(
  v.object({ rule: v.string(), verdict: v.union(v.string(), v.null()) }),
);

export const place = mutation({
  args: { customer: v.string(), items: v.array(v.string()) },
  returns: v.object({ orderId: v.id("orders"), verdicts }),
  handler: async (ctx, { customer, items }) => {
    const orderId = await ctx.db.insert("orders", { customer, items });
    const verdicts: { rule: string; verdict: string | null }[] = [];
    for (const { name, rule } of RULES) {
      const verdict = await judge(ctx, rule, orderId);
      await ctx.db.insert("verdicts", { orderId, rule: name, verdict });
      verdicts.push({ rule: name, verdict });
    }
    return { orderId, verdicts };
  },
});

export const verdictsOf = query({
  args: { orderId: v.id("orders") },
  returns: verdicts,
  handler: async (ctx, { orderId }) => {
    const found = await ctx.db
      .query("verdicts")
      .withIndex("by_order", (q) => q.eq("orderId", orderId))
      .collect();
    return found.map(({ rule, verdict }) => ({ rule, verdict }));
  },
});

/** A rule that fails, for whatever reason, leaves nothing behind: it is a transaction inside of this one. */
async function judge(
  ctx: MutationCtx,
  rule: Rule,
  orderId: Id<"orders">,
): Promise<string | null> {
  try {
    return await ctx.runMutation(
      rule,
      { orderId },
      { transactionLimits: ALLOWANCE },
    );
  } catch {
    return null;
  }
}
