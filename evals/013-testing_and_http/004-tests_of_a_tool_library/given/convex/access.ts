import { ConvexError } from "convex/values";
import type { QueryCtx } from "./_generated/server";

export function failure(code: string) {
  return new ConvexError({ code });
}

/** The subject of the caller's identity. Everybody who has logged in is a member. */
export async function requireMember(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw failure("UNAUTHENTICATED");
  return identity.subject;
}

export async function isStaff(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  return identity !== null && identity.role === "staff";
}

export async function requireStaff(ctx: QueryCtx) {
  await requireMember(ctx);
  if (!(await isStaff(ctx))) throw failure("FORBIDDEN");
}
