import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export function failure(code: string) {
  return new ConvexError({ code });
}

export async function requireUser(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) throw failure("UNAUTHENTICATED");
  return identity.subject;
}

export async function membership(ctx: QueryCtx, notebookId: Id<"notebooks">, user: string) {
  return await ctx.db
    .query("members")
    .withIndex("by_notebook_and_user", (q) => q.eq("notebookId", notebookId).eq("user", user))
    .unique();
}

/** What the user is in the notebook, null if they cannot see it. */
export async function roleIn(ctx: QueryCtx, notebookId: Id<"notebooks">, user: string) {
  const notebook = await ctx.db.get("notebooks", notebookId);
  if (notebook === null) return null;
  if (notebook.owner === user) return "owner" as const;
  const member = await membership(ctx, notebookId, user);
  return member === null ? null : member.role;
}

export async function mayWrite(ctx: QueryCtx, notebookId: Id<"notebooks">, user: string) {
  const role = await roleIn(ctx, notebookId, user);
  return role === "owner" || role === "writer";
}

/** Everybody who can see the notebook. */
export async function audienceOf(ctx: QueryCtx, notebookId: Id<"notebooks">) {
  const notebook = await ctx.db.get("notebooks", notebookId);
  if (notebook === null) return [];
  const members = await ctx.db
    .query("members")
    .withIndex("by_notebook_and_user", (q) => q.eq("notebookId", notebookId))
    .collect();
  return [notebook.owner, ...members.map(({ user }) => user)];
}
