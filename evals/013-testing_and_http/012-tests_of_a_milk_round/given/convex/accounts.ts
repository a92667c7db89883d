import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { failure, requireCustomer } from "./access";
import { addDays, cutOffOf, lastClosed } from "./calendar";

export async function accountOf(ctx: QueryCtx, customer: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_customer", (q) => q.eq("customer", customer))
    .unique();
}

/** The account of the caller, for changes to the plan. It is opened by the first one. */
export async function changeableAccount(ctx: MutationCtx): Promise<Doc<"accounts">> {
  const customer = await requireCustomer(ctx);
  const known = await accountOf(ctx, customer);
  if (known !== null) {
    if (known.lastDate !== null) throw failure("CANCELLED");
    return known;
  }
  const account = { customer, creditCents: 0, suspended: false, lastDate: null, fixedUntil: lastClosed() };
  const accountId = await ctx.db.insert("accounts", account);
  const date = addDays(account.fixedUntil, 1);
  await ctx.scheduler.runAt(cutOffOf(date), internal.rounds.fix, { accountId, date });
  return { ...account, _id: accountId, _creationTime: Date.now() };
}

/** `cents` are deducted if they are negative. */
export async function addCredit(ctx: MutationCtx, accountId: Id<"accounts">, cents: number) {
  const account = await ctx.db.get("accounts", accountId);
  if (account !== null) await ctx.db.patch("accounts", accountId, { creditCents: account.creditCents + cents });
}

export const mine = query({
  args: {},
  returns: v.object({
    creditCents: v.number(),
    suspended: v.boolean(),
    lastDate: v.union(v.string(), v.null()),
  }),
  handler: async (ctx) => {
    const account = await accountOf(ctx, await requireCustomer(ctx));
    if (account === null) return { creditCents: 0, suspended: false, lastDate: null };
    const { creditCents, suspended, lastDate } = account;
    return { creditCents, suspended, lastDate };
  },
});
