import { ConvexError, v } from "convex/values";
import { mutation } from "./_generated/server";
import { existing } from "./errors";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Invites somebody for a week. Whoever is invited already is invited for another week from now. */
export const invite = mutation({
  args: { workspaceId: v.id("workspaces"), user: v.string() },
  handler: async (ctx, { workspaceId, user }) => {
    existing(await ctx.db.get("workspaces", workspaceId));
    const member = await ctx.db
      .query("members")
      .withIndex("by_workspace_and_user", (q) =>
        q.eq("workspaceId", workspaceId).eq("user", user),
      )
      .unique();
    if (member) return null;
    const expiresAt = Date.now() + WEEK_MS;
    const invitation = await ctx.db
      .query("invitations")
      .withIndex("by_workspace_and_user", (q) =>
        q.eq("workspaceId", workspaceId).eq("user", user),
      )
      .unique();
    if (invitation) {
      await ctx.db.patch("invitations", invitation._id, { expiresAt });
      return invitation._id;
    }
    return await ctx.db.insert("invitations", { workspaceId, user, expiresAt });
  },
});

export const accept = mutation({
  args: { invitationId: v.id("invitations") },
  handler: async (ctx, { invitationId }) => {
    const invitation = existing(await ctx.db.get("invitations", invitationId));
    if (invitation.expiresAt <= Date.now()) {
      throw new ConvexError({ code: "EXPIRED" });
    }
    const { workspaceId, user } = invitation;
    await ctx.db.delete("invitations", invitationId);
    return await ctx.db.insert("members", { workspaceId, user });
  },
});

export const withdraw = mutation({
  args: { invitationId: v.id("invitations") },
  handler: async (ctx, { invitationId }) => {
    existing(await ctx.db.get("invitations", invitationId));
    await ctx.db.delete("invitations", invitationId);
    return null;
  },
});

export const remove = mutation({
  args: { memberId: v.id("members") },
  handler: async (ctx, { memberId }) => {
    existing(await ctx.db.get("members", memberId));
    await ctx.db.delete("members", memberId);
    return null;
  },
});
