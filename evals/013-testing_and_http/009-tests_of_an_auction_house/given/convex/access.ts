import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export function failure(code: string) {
  return new ConvexError({ code });
}

export async function requireMember(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw failure("UNAUTHENTICATED");
  return identity.subject;
}

export async function findLot(ctx: QueryCtx, lotId: Id<"lots">) {
  const lot = await ctx.db.get("lots", lotId);
  if (lot === null) throw failure("NOT_FOUND");
  return lot;
}

/** Whether bids are accepted. The function that ends the lot may be late. */
export function isOpen(lot: Doc<"lots">) {
  return lot.state === "open" && Date.now() < lot.endsAt;
}
