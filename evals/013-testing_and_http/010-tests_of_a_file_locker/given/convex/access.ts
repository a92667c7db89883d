import { ConvexError } from "convex/values";
import type { QueryCtx } from "./_generated/server";

export function failure(code: string) {
  return new ConvexError({ code });
}

export async function requireOwner(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw failure("UNAUTHENTICATED");
  return identity.subject;
}

/** Nobody can guess it. */
export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
