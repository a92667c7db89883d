import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

// The context of a mutation can do all that a QueryCtx can, so both kinds of functions may call these.

export async function requireMember(
  ctx: QueryCtx,
  teamId: Id<"teams">,
  user: string,
): Promise<Doc<"members">> {
  const member = await ctx.db
    .query("members")
    .withIndex("by_team_and_user", (q) =>
      q.eq("teamId", teamId).eq("user", user),
    )
    .unique();
  if (member === null) {
    throw new ConvexError({ code: "NOT_A_MEMBER" });
  }
  return member;
}

export async function requireAdmin(
  ctx: QueryCtx,
  teamId: Id<"teams">,
  user: string,
): Promise<Doc<"members">> {
  const member = await requireMember(ctx, teamId, user);
  if (member.role !== "admin") {
    throw new ConvexError({ code: "NOT_AN_ADMIN" });
  }
  return member;
}
