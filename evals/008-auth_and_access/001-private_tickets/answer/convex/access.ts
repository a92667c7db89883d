import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

type Code =
  | "UNAUTHENTICATED"
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "INVALID_ASSIGNEE"
  | "LAST_ADMIN";

export function failure(code: Code) {
  return new ConvexError({ code });
}

export async function callerOrNull(ctx: QueryCtx): Promise<string | null> {
  return (await ctx.auth.getUserIdentity())?.subject ?? null;
}

export async function membership(
  ctx: QueryCtx,
  orgId: Id<"orgs">,
  user: string,
): Promise<Doc<"members"> | null> {
  return await ctx.db
    .query("members")
    .withIndex("by_org_and_user", (q) => q.eq("orgId", orgId).eq("user", user))
    .unique();
}

/** The caller's membership, or the same error for strangers and for organisations that do not exist. */
export async function requireMember(
  ctx: QueryCtx,
  orgId: Id<"orgs">,
): Promise<Doc<"members">> {
  const user = await callerOrNull(ctx);
  const member = user === null ? null : await membership(ctx, orgId, user);
  if (member === null) {
    throw failure("NOT_FOUND");
  }
  return member;
}

export function sees(member: Doc<"members">, ticket: Doc<"tickets">): boolean {
  return (
    member.orgId === ticket.orgId &&
    (!ticket.isPrivate ||
      member.role === "admin" ||
      ticket.creator === member.user ||
      ticket.assignee === member.user)
  );
}

/** The ticket and the caller's membership in its organisation, if they see it. */
export async function seenTicket(ctx: QueryCtx, ticketId: Id<"tickets">) {
  const user = await callerOrNull(ctx);
  const ticket = await ctx.db.get("tickets", ticketId);
  if (user === null || ticket === null) {
    return null;
  }
  const member = await membership(ctx, ticket.orgId, user);
  return member !== null && sees(member, ticket) ? { member, ticket } : null;
}

export async function requireTicket(ctx: QueryCtx, ticketId: Id<"tickets">) {
  const seen = await seenTicket(ctx, ticketId);
  if (seen === null) {
    throw failure("NOT_FOUND");
  }
  return seen;
}
