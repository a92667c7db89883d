import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export function failure(code: string) {
  return new ConvexError({ code });
}

export async function requireOwner(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw failure("UNAUTHENTICATED");
  return identity.subject;
}

/** An endpoint of the caller. To others it does not exist. */
export async function ownEndpoint(ctx: QueryCtx, endpointId: Id<"endpoints">) {
  const owner = await requireOwner(ctx);
  const endpoint = await ctx.db.get("endpoints", endpointId);
  if (endpoint === null || endpoint.owner !== owner) throw failure("NOT_FOUND");
  return endpoint;
}
