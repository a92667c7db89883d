import type { Doc } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import type { Actor } from "./lib/permissions";

export type AppActor = Actor<Doc<"users">["role"]>;

export async function actorOf(ctx: QueryCtx): Promise<AppActor> {
  const identity = await ctx.auth.getUserIdentity();
  const user =
    identity &&
    (await ctx.db
      .query("users")
      .withIndex("by_subject", (q) => q.eq("subject", identity.subject))
      .unique());
  return user
    ? { userId: user._id, role: user.role }
    : { userId: null, role: "guest" };
}
