import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export function oops(code: string): never {
  throw new ConvexError({ code });
}

export async function caller(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  return identity === null ? oops("UNAUTHENTICATED") : identity.subject;
}

export async function machineOf(ctx: QueryCtx, person: string, label: string) {
  const machine = await ctx.db
    .query("machines")
    .withIndex("by_person", (q) => q.eq("person", person).eq("label", label))
    .first();
  return machine ?? oops("UNKNOWN_DEVICE");
}

/** 2 for the owner, 1 for writers, 0 for readers, -1 for others. */
export async function level(ctx: QueryCtx, book: Id<"notebooks">, person: string) {
  const grant = await ctx.db
    .query("grants")
    .withIndex("by_book", (q) => q.eq("book", book).eq("person", person))
    .unique();
  return grant?.level ?? -1;
}
