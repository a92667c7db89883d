import { ConvexError, v } from "convex/values";
import {
  internalMutation,
  mutation,
  query,
  type QueryCtx,
} from "./_generated/server";
import {
  emptyStatement,
  priceAll,
  type Account,
  type Plan,
  type Statement,
} from "./pricing";
import { credit, event, usage } from "./schema";

export const recordUsage = mutation({
  args: usage,
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("usage")
      .withIndex("by_customer_and_key", (q) =>
        q.eq("customer", args.customer).eq("key", args.key),
      )
      .unique();
    if (known === null) {
      await ctx.db.insert("usage", args);
    } else if (known.units !== args.units || known.at !== args.at) {
      throw new ConvexError({ code: "KEY_REUSED" });
    }
    return null;
  },
});

export const voidUsage = mutation({
  args: { customer: v.string(), key: v.string() },
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("voids")
      .withIndex("by_customer_and_key", (q) =>
        q.eq("customer", args.customer).eq("key", args.key),
      )
      .unique();
    if (known === null) {
      await ctx.db.insert("voids", args);
    }
    return null;
  },
});

export const grantCredit = mutation({
  args: credit,
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("credits")
      .withIndex("by_customer_and_key", (q) =>
        q.eq("customer", args.customer).eq("key", args.key),
      )
      .unique();
    if (known === null) {
      await ctx.db.insert("credits", args);
    } else if (
      known.units !== args.units ||
      known.from !== args.from ||
      known.until !== args.until
    ) {
      throw new ConvexError({ code: "KEY_REUSED" });
    }
    return null;
  },
});

export const receiveEvent = internalMutation({
  args: { event },
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("events")
      .withIndex("by_event_id", (q) => q.eq("id", args.event.id))
      .unique();
    if (known === null) {
      await ctx.db.insert("events", args.event);
    }
    return null;
  },
});

export const closeMonth = mutation({
  args: { customer: v.string(), month: v.string() },
  handler: async (ctx, { customer, month }) => {
    const known = await closedStatement(ctx, customer, month);
    if (known !== null) {
      return known;
    }
    const { months } = await accountOf(ctx, customer);
    const current = months.get(month) ?? emptyStatement(month);
    const statement = { ...current, closed: true };
    await ctx.db.insert("closings", { customer, statement });
    return statement;
  },
});

export const statement = query({
  args: { customer: v.string(), month: v.string() },
  handler: async (ctx, { customer, month }) => {
    const closed = await closedStatement(ctx, customer, month);
    if (closed !== null) {
      return closed;
    }
    const { months } = await accountOf(ctx, customer);
    return months.get(month) ?? emptyStatement(month);
  },
});

export const adjustments = query({
  args: { customer: v.string() },
  handler: async (ctx, { customer }) => {
    const { months } = await accountOf(ctx, customer);
    const closings = await ctx.db
      .query("closings")
      .withIndex("by_customer_and_month", (q) => q.eq("customer", customer))
      .collect();
    return closings
      .map(({ statement: { month, amount } }) => ({
        month,
        closedAmount: amount,
        amount: months.get(month)?.amount ?? 0,
      }))
      .filter(({ closedAmount, amount }) => closedAmount !== amount);
  },
});

export const credits = query({
  args: { customer: v.string() },
  handler: async (ctx, { customer }) => {
    return (await accountOf(ctx, customer)).credits;
  },
});

export const balance = query({
  args: { customer: v.string() },
  handler: async (ctx, { customer }) => {
    const { months } = await accountOf(ctx, customer);
    let charged = 0;
    for (const { amount } of months.values()) {
      charged += amount;
    }
    const paid = await paidBy(ctx, customer);
    return { charged, paid, due: charged - paid };
  },
});

async function closedStatement(
  ctx: QueryCtx,
  customer: string,
  month: string,
): Promise<Statement | null> {
  const closing = await ctx.db
    .query("closings")
    .withIndex("by_customer_and_month", (q) =>
      q.eq("customer", customer).eq("statement.month", month),
    )
    .unique();
  return closing?.statement ?? null;
}

async function accountOf(ctx: QueryCtx, customer: string): Promise<Account> {
  const [usage, voids, credits, events] = await Promise.all([
    ctx.db
      .query("usage")
      .withIndex("by_customer_and_key", (q) => q.eq("customer", customer))
      .collect(),
    ctx.db
      .query("voids")
      .withIndex("by_customer_and_key", (q) => q.eq("customer", customer))
      .collect(),
    ctx.db
      .query("credits")
      .withIndex("by_customer_and_key", (q) => q.eq("customer", customer))
      .collect(),
    eventsOf(ctx, customer),
  ]);
  const isVoid = new Set(voids.map(({ key }) => key));
  const plans: Plan[] = events.filter((each) => each.type === "plan.changed");
  return priceAll(
    usage.filter(({ key }) => !isVoid.has(key)),
    credits,
    plans,
  );
}

async function paidBy(ctx: QueryCtx, customer: string): Promise<number> {
  const paid = new Map<string, number>();
  const refunded = new Map<string, number>();
  for (const each of await eventsOf(ctx, customer)) {
    if (each.type === "payment.succeeded") {
      paid.set(each.payment, each.amount);
    } else if (each.type === "payment.refunded") {
      const before = refunded.get(each.payment) ?? 0;
      refunded.set(each.payment, before + each.amount);
    }
  }
  let sum = 0;
  for (const [payment, amount] of paid) {
    sum += Math.max(0, amount - (refunded.get(payment) ?? 0));
  }
  return sum;
}

async function eventsOf(ctx: QueryCtx, customer: string) {
  return await ctx.db
    .query("events")
    .withIndex("by_customer", (q) => q.eq("customer", customer))
    .collect();
}
