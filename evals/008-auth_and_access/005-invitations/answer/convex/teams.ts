import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  action,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { role as roleValidator } from "./schema";

const VALID_MS = 7 * 24 * 60 * 60 * 1000;
const TOKEN_BYTES = 32;

type Code =
  | "UNAUTHENTICATED"
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "FULL"
  | "LAST_ADMIN";

function failure(code: Code) {
  return new ConvexError({ code });
}

const invitation = {
  teamId: v.id("teams"),
  email: v.string(),
  role: roleValidator,
};

export const create = mutation({
  args: { name: v.string(), seats: v.number() },
  handler: async (ctx, { name, seats }) => {
    const { subject: user } = await requireIdentity(ctx);
    const teamId = await ctx.db.insert("teams", { name, seats });
    await ctx.db.insert("members", { teamId, user, role: "admin" });
    return teamId;
  },
});

// An action, because only actions have randomness that nobody can predict.
export const invite = action({
  args: invitation,
  handler: async (ctx, args): Promise<string> => {
    const token = toHex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
    const hash = await hashOf(token);
    await ctx.runMutation(internal.teams.addInvitation, { ...args, hash });
    return token;
  },
});

export const addInvitation = internalMutation({
  args: { ...invitation, hash: v.string() },
  handler: async (ctx, { teamId, email: address, role, hash }) => {
    const { user: sender } = await requireAdmin(ctx, teamId);
    const email = address.toLowerCase();
    await removeOpen(ctx, teamId, (each) => each.email === email);
    const team = await ctx.db.get("teams", teamId);
    const taken =
      (await allMembers(ctx, teamId)).length +
      (await openInvitations(ctx, teamId)).length;
    if (team === null || taken >= team.seats) {
      // What was replaced comes back, because nothing of this is kept.
      throw failure("FULL");
    }
    await ctx.db.insert("invitations", {
      teamId,
      email,
      role,
      hash,
      sender,
      expires: Date.now() + VALID_MS,
      acceptedBy: null,
    });
    return null;
  },
});

export const withdraw = mutation({
  args: { teamId: v.id("teams"), email: v.string() },
  handler: async (ctx, { teamId, email }) => {
    await requireAdmin(ctx, teamId);
    const address = email.toLowerCase();
    await removeOpen(ctx, teamId, (each) => each.email === address);
    return null;
  },
});

export const accept = mutation({
  args: { token: v.string() },
  handler: async (ctx, { token }) => {
    const identity = await requireIdentity(ctx);
    const hash = await hashOf(token);
    const found = await ctx.db
      .query("invitations")
      .withIndex("by_hash", (q) => q.eq("hash", hash))
      .unique();
    if (found === null) {
      throw failure("NOT_FOUND");
    }
    const { teamId } = found;
    const user = identity.subject;
    const before = await findMember(ctx, teamId, user);
    if (found.acceptedBy === user && before !== null) {
      return { teamId, role: before.role };
    }
    const isForCaller =
      identity.emailVerified === true &&
      identity.email?.toLowerCase() === found.email;
    if (!isForCaller || !isOpen(found)) {
      throw failure("NOT_FOUND");
    }
    await ctx.db.patch("invitations", found._id, { acceptedBy: user });
    const role = before?.role === "admin" ? "admin" : found.role;
    if (before === null) {
      await ctx.db.insert("members", { teamId, user, role });
    } else {
      await ctx.db.patch("members", before._id, { role });
    }
    return { teamId, role };
  },
});

export const setRole = mutation({
  args: {
    teamId: v.id("teams"),
    user: v.string(),
    role: v.nullable(roleValidator),
  },
  handler: async (ctx, { teamId, user, role }) => {
    await requireAdmin(ctx, teamId);
    const member = await findMember(ctx, teamId, user);
    if (member === null) {
      return null;
    }
    if (role === null) {
      await ctx.db.delete("members", member._id);
    } else {
      await ctx.db.patch("members", member._id, { role });
    }
    if (role !== "admin") {
      await removeOpen(ctx, teamId, (each) => each.sender === user);
    }
    const members = await allMembers(ctx, teamId);
    if (!members.some((each) => each.role === "admin")) {
      throw failure("LAST_ADMIN");
    }
    return null;
  },
});

export const members = query({
  args: { teamId: v.id("teams") },
  handler: async (ctx, { teamId }) => {
    await requireMember(ctx, teamId);
    const found = await allMembers(ctx, teamId);
    return found.map(({ user, role }) => ({ user, role }));
  },
});

export const pending = query({
  args: { teamId: v.id("teams") },
  handler: async (ctx, { teamId }) => {
    await requireAdmin(ctx, teamId);
    const found = await openInvitations(ctx, teamId);
    return found.map(({ email, role, expires }) => ({ email, role, expires }));
  },
});

async function requireIdentity(ctx: QueryCtx) {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw failure("UNAUTHENTICATED");
  }
  return identity;
}

async function requireMember(
  ctx: QueryCtx,
  teamId: Id<"teams">,
): Promise<Doc<"members">> {
  const { subject } = await requireIdentity(ctx);
  const member = await findMember(ctx, teamId, subject);
  if (member === null) {
    throw failure("NOT_FOUND");
  }
  return member;
}

async function requireAdmin(
  ctx: QueryCtx,
  teamId: Id<"teams">,
): Promise<Doc<"members">> {
  const member = await requireMember(ctx, teamId);
  if (member.role !== "admin") {
    throw failure("FORBIDDEN");
  }
  return member;
}

async function findMember(ctx: QueryCtx, teamId: Id<"teams">, user: string) {
  return await ctx.db
    .query("members")
    .withIndex("by_team_and_user", (q) =>
      q.eq("teamId", teamId).eq("user", user),
    )
    .unique();
}

async function allMembers(ctx: QueryCtx, teamId: Id<"teams">) {
  return await ctx.db
    .query("members")
    .withIndex("by_team_and_user", (q) => q.eq("teamId", teamId))
    .collect();
}

function isOpen(each: Doc<"invitations">): boolean {
  return each.acceptedBy === null && each.expires > Date.now();
}

/** Sorted by address. */
async function openInvitations(ctx: QueryCtx, teamId: Id<"teams">) {
  const found = await ctx.db
    .query("invitations")
    .withIndex("by_state", (q) => q.eq("teamId", teamId).eq("acceptedBy", null))
    .collect();
  return found.filter(isOpen);
}

async function removeOpen(
  ctx: MutationCtx,
  teamId: Id<"teams">,
  isMeant: (each: Doc<"invitations">) => boolean,
): Promise<void> {
  for (const each of await openInvitations(ctx, teamId)) {
    if (isMeant(each)) {
      await ctx.db.delete("invitations", each._id);
    }
  }
}

async function hashOf(token: string): Promise<string> {
  const bytes = new TextEncoder().encode(token);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
