import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { requireAdmin, requireMember } from "./helpers";

const caller = { teamId: v.id("teams"), user: v.string() };

export const getTeam = query({
  args: caller,
  handler: async (ctx, { teamId, user }) => {
    const { role } = await requireMember(ctx, teamId, user);
    const team = await ctx.db.get("teams", teamId);
    if (team === null) {
      throw new Error(`There is no team ${teamId}`);
    }
    return { name: team.name, role };
  },
});

export const leave = mutation({
  args: caller,
  handler: async (ctx, { teamId, user }) => {
    const member = await requireMember(ctx, teamId, user);
    await ctx.db.delete("members", member._id);
    return null;
  },
});

export const rename = mutation({
  args: { ...caller, name: v.string() },
  handler: async (ctx, { teamId, user, name }) => {
    await requireAdmin(ctx, teamId, user);
    await ctx.db.patch("teams", teamId, { name });
    return null;
  },
});
