import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { requireMember } from "./access";

export async function owedBy(ctx: QueryCtx, member: string) {
  const entries = await ctx.db.query("entries").collect();
  return entries.reduce((sum, entry) => (entry.member === member ? sum + entry.cents : sum), 0);
}

export const balance = query({
  args: {},
  handler: async (ctx) => await owedBy(ctx, await requireMember(ctx)),
});

export const pay = internalMutation({
  args: { reference: v.string(), member: v.string(), cents: v.number() },
  handler: async (ctx, { reference, member, cents }) => {
    const earlier = (await ctx.db.query("entries").collect()).find((entry) => entry.reference === reference);
    if (earlier === undefined) await ctx.db.insert("entries", { reference, member, cents: -cents });
    return { status: earlier ? 200 : 201, owedCents: await owedBy(ctx, earlier?.member ?? member) };
  },
});
