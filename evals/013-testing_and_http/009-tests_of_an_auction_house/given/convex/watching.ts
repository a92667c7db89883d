import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { findLot, requireMember } from "./access";
import { lotState } from "./schema";

async function findWatch(ctx: QueryCtx, member: string, lotId: Id<"lots">) {
  return await ctx.db
    .query("watches")
    .withIndex("by_member_and_lot", (q) => q.eq("member", member).eq("lotId", lotId))
    .unique();
}

export async function addWatch(ctx: MutationCtx, member: string, lotId: Id<"lots">) {
  const watch = await findWatch(ctx, member, lotId);
  if (watch === null) await ctx.db.insert("watches", { member, lotId });
}

export const add = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const member = await requireMember(ctx);
    await findLot(ctx, lotId);
    await addWatch(ctx, member, lotId);
    return null;
  },
});

export const remove = mutation({
  args: { lotId: v.id("lots") },
  returns: v.null(),
  handler: async (ctx, { lotId }) => {
    const member = await requireMember(ctx);
    await findLot(ctx, lotId);
    const watch = await findWatch(ctx, member, lotId);
    if (watch !== null) await ctx.db.delete("watches", watch._id);
    return null;
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object({ lotId: v.id("lots"), title: v.string(), state: lotState })),
  handler: async (ctx) => {
    const member = await requireMember(ctx);
    const watches = await ctx.db
      .query("watches")
      .withIndex("by_member", (q) => q.eq("member", member))
      .order("desc")
      .collect();
    return await Promise.all(
      watches.map(async ({ lotId }) => {
        const { title, state } = await findLot(ctx, lotId);
        return { lotId, title, state };
      }),
    );
  },
});
