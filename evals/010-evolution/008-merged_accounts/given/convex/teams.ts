import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { actor, colleague } from "./lib/access";
import { log } from "./lib/activity";
import { existing, fail } from "./lib/errors";

async function teamOf(ctx: QueryCtx, acting: Doc<"members">, teamId: Id<"teams">): Promise<Doc<"teams">> {
  const team = existing(await ctx.db.get("teams", teamId));
  if (team.workspaceId !== acting.workspaceId) throw fail("NOT_FOUND");
  return team;
}

async function membership(ctx: QueryCtx, teamId: Id<"teams">, memberId: Id<"members">) {
  return await ctx.db
    .query("teamMembers")
    .withIndex("by_team", (q) => q.eq("teamId", teamId).eq("memberId", memberId))
    .unique();
}

export const create = mutation({
  args: { actorId: v.id("members"), name: v.string() },
  handler: async (ctx, { actorId, name }) => {
    const acting = await actor(ctx, actorId, "admin");
    const teamId = await ctx.db.insert("teams", { workspaceId: acting.workspaceId, name, size: 0 });
    await log(ctx, acting, "team.create", name);
    return teamId;
  },
});

export const join = mutation({
  args: { actorId: v.id("members"), teamId: v.id("teams") },
  handler: async (ctx, { actorId, teamId }) => {
    const acting = await actor(ctx, actorId);
    const team = await teamOf(ctx, acting, teamId);
    if ((await membership(ctx, teamId, actorId)) !== null) return null;
    await ctx.db.insert("teamMembers", { teamId, memberId: actorId });
    await ctx.db.patch("teams", teamId, { size: team.size + 1 });
    await log(ctx, acting, "team.join", team.name);
    return null;
  },
});

/** Whoever leads a team and leaves it leads it no longer. */
export const leave = mutation({
  args: { actorId: v.id("members"), teamId: v.id("teams") },
  handler: async (ctx, { actorId, teamId }) => {
    const acting = await actor(ctx, actorId);
    const team = await teamOf(ctx, acting, teamId);
    const belongs = await membership(ctx, teamId, actorId);
    if (belongs === null) return null;
    await ctx.db.delete("teamMembers", belongs._id);
    const leadId = team.leadId === actorId ? undefined : team.leadId;
    await ctx.db.patch("teams", teamId, { size: team.size - 1, leadId });
    await log(ctx, acting, "team.leave", team.name);
    return null;
  },
});

/** A team is led by one of its members. */
export const setLead = mutation({
  args: { actorId: v.id("members"), teamId: v.id("teams"), memberId: v.id("members") },
  handler: async (ctx, { actorId, teamId, memberId }) => {
    const acting = await actor(ctx, actorId, "admin");
    const team = await teamOf(ctx, acting, teamId);
    const member = await colleague(ctx, acting, memberId);
    if ((await membership(ctx, teamId, memberId)) === null) throw fail("INVALID");
    await ctx.db.patch("teams", teamId, { leadId: memberId });
    await log(ctx, acting, "team.lead", `${team.name}: ${member.name}`);
    return null;
  },
});

export const list = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const teams = await ctx.db
      .query("teams")
      .withIndex("by_workspace", (q) => q.eq("workspaceId", acting.workspaceId))
      .collect();
    return await Promise.all(
      teams.map(async (team) => {
        const lead = team.leadId === undefined ? null : await ctx.db.get("members", team.leadId);
        return { teamId: team._id, name: team.name, size: team.size, lead: lead?.name ?? null };
      }),
    );
  },
});
