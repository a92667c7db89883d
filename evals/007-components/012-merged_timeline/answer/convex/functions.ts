import {
  customMutation,
  customQuery,
  type CustomCtx,
} from "convex-helpers/server/customFunctions";
import { ConvexError, v, type Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import type { action } from "./schema";

interface Options {
  action: Infer<typeof action>;
  only?: "moderator";
}

export const memberQuery = customQuery(query, {
  args: { session: v.string() },
  input: async (ctx, { session }) => ({
    ctx: { member: await memberOf(ctx, session) },
    args: {},
  }),
});

export const memberMutation = customMutation(mutation, {
  args: { session: v.string() },
  input: async (ctx, { session }, { action, only }: Options) => {
    const member = await memberOf(ctx, session);
    if (only !== undefined && member.role !== only) {
      throw new ConvexError({ code: "FORBIDDEN" });
    }
    return {
      ctx: { member },
      args: {},
      onSuccess: async () => {
        await ctx.db.insert("log", {
          member: member._id,
          action,
          at: Date.now(),
        });
      },
    };
  },
});

export type MemberQueryCtx = CustomCtx<typeof memberQuery>;
export type MemberMutationCtx = CustomCtx<typeof memberMutation>;

async function memberOf(
  ctx: QueryCtx,
  session: string,
): Promise<Doc<"members">> {
  const member = await ctx.db
    .query("members")
    .withIndex("by_session", (q) => q.eq("session", session))
    .first();
  if (member === null) {
    throw new ConvexError({ code: "SIGNED_OUT" });
  }
  return member;
}
