import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  mutation,
  type MutationCtx,
} from "./_generated/server";

export const signUp = mutation({
  args: { emails: v.array(v.string()), mailUrl: v.string() },
  handler: async (ctx, { emails, mailUrl }) => {
    const memberIds: Id<"members">[] = [];
    for (const email of emails) {
      const memberId = await addMember(ctx, email);
      await ctx.scheduler.runAfter(0, internal.index.sendWelcome, {
        memberId,
        email,
        mailUrl,
      });
      memberIds.push(memberId);
    }
    return memberIds;
  },
});

export const sendWelcome = internalAction({
  args: { memberId: v.id("members"), email: v.string(), mailUrl: v.string() },
  handler: async (ctx, { memberId, email, mailUrl }) => {
    const response = await fetch(mailUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ to: email }),
    });
    if (!response.ok) {
      throw new Error(`The mail server answered with ${response.status}`);
    }
    await ctx.runMutation(internal.index.markWelcomed, { memberId });
    return null;
  },
});

export const markWelcomed = internalMutation({
  args: { memberId: v.id("members") },
  handler: async (ctx, { memberId }) => {
    if ((await ctx.db.get("members", memberId)) !== null) {
      await ctx.db.patch("members", memberId, { isWelcomed: true });
    }
    return null;
  },
});

async function addMember(
  ctx: MutationCtx,
  email: string,
): Promise<Id<"members">> {
  const known = await ctx.db
    .query("members")
    .withIndex("by_email", (q) => q.eq("email", email))
    .first();
  if (known !== null) {
    throw new ConvexError({ code: "ALREADY_A_MEMBER", email });
  }
  return await ctx.db.insert("members", { email, isWelcomed: false });
}
