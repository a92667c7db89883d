import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export function fail(code: string): never {
  throw new ConvexError({ code });
}

export async function me(ctx: QueryCtx) {
  return (await ctx.auth.getUserIdentity())?.subject ?? fail("UNAUTHENTICATED");
}

export async function mine(ctx: QueryCtx, id: Id<"endpoints">) {
  const caller = await me(ctx);
  const endpoint = await ctx.db.get("endpoints", id);
  return endpoint?.owner === caller ? endpoint : fail("NOT_FOUND");
}

export function isWordy(text: string) {
  return text.split(".").every((word) => word.length > 0 && [...word].every((letter) => letter >= "a" && letter <= "z"));
}

export function listens(types: string[], type: string) {
  return types.some((each) => {
    if (each === "*" || each === type) return true;
    const [prefix, rest] = [each.slice(0, each.length - 2), each.slice(each.length - 2)];
    return rest === ".*" && type.indexOf(`${prefix}.`) === 0;
  });
}
