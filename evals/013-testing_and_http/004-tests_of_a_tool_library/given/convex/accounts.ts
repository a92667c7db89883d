import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { requireMember } from "./access";

async function accountOf(ctx: QueryCtx, member: string) {
  return await ctx.db
    .query("accounts")
    .withIndex("by_member", (q) => q.eq("member", member))
    .unique();
}

export async function owedBy(ctx: QueryCtx, member: string) {
  return (await accountOf(ctx, member))?.owedCents ?? 0;
}

/** Adds to what the member owes; `cents` may be negative. Returns what the member owes then. */
export async function charge(ctx: MutationCtx, member: string, cents: number) {
  const account = await accountOf(ctx, member);
  const owedCents = (account?.owedCents ?? 0) + cents;
  if (account === null) await ctx.db.insert("accounts", { member, owedCents });
  else await ctx.db.patch("accounts", account._id, { owedCents });
  return owedCents;
}

export const balance = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => await owedBy(ctx, await requireMember(ctx)),
});

/** A payment that was reported before changes nothing, whatever the report says now. */
export const recordPayment = internalMutation({
  args: { reference: v.string(), member: v.string(), cents: v.number() },
  returns: v.object({ owedCents: v.number(), isNew: v.boolean() }),
  handler: async (ctx, { reference, member, cents }) => {
    const known = await ctx.db
      .query("payments")
      .withIndex("by_reference", (q) => q.eq("reference", reference))
      .unique();
    if (known !== null) return { owedCents: await owedBy(ctx, known.member), isNew: false };
    await ctx.db.insert("payments", { reference, member, cents });
    return { owedCents: await charge(ctx, member, -cents), isNew: true };
  },
});
