import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { actor, colleague, outranks } from "./lib/access";
import { log } from "./lib/activity";
import { existing, fail } from "./lib/errors";
import { handOver } from "./lib/merge";
import { role } from "./schema";

async function aliasOf(ctx: QueryCtx, workspaceId: Id<"workspaces">, email: string) {
  return await ctx.db
    .query("aliases")
    .withIndex("by_email", (q) => q.eq("workspaceId", workspaceId).eq("email", email.toLowerCase()))
    .unique();
}

/** Whose address it is. Duplicates keep theirs in their documents, but it belongs to the account that was kept. */
async function byEmail(ctx: QueryCtx, workspaceId: Id<"workspaces">, email: string) {
  const members = await ctx.db
    .query("members")
    .withIndex("by_email", (q) => q.eq("workspaceId", workspaceId).eq("email", email.toLowerCase()))
    .collect();
  const holder = members.find((member) => member.mergedInto === undefined);
  if (holder !== undefined) return holder;
  const alias = await aliasOf(ctx, workspaceId, email);
  return alias === null ? null : await ctx.db.get("members", alias.memberId);
}

async function all(ctx: QueryCtx, workspaceId: Id<"workspaces">) {
  return await ctx.db
    .query("members")
    .withIndex("by_workspace", (q) => q.eq("workspaceId", workspaceId))
    .collect();
}

/** Guests need no seat. */
async function checkSeats(ctx: QueryCtx, workspace: Doc<"workspaces">): Promise<void> {
  const members = await all(ctx, workspace._id);
  const seated = members.filter((member) => member.active && member.role !== "guest").length;
  if (workspace.seats !== undefined && seated > workspace.seats) throw fail("NO_SEATS");
}

async function checkOwners(ctx: QueryCtx, workspaceId: Id<"workspaces">): Promise<void> {
  const members = await all(ctx, workspaceId);
  if (!members.some((member) => member.active && member.role === "owner")) throw fail("LAST_OWNER");
}

async function setActive(ctx: MutationCtx, member: Doc<"members">, active: boolean): Promise<void> {
  const workspace = existing(await ctx.db.get("workspaces", member.workspaceId));
  await ctx.db.patch("members", member._id, { active });
  await ctx.db.patch("workspaces", workspace._id, { activeMembers: workspace.activeMembers + (active ? 1 : -1) });
}

/** An address belongs to one member of a workspace, active or not. */
export const add = mutation({
  args: { actorId: v.id("members"), name: v.string(), email: v.string(), role },
  handler: async (ctx, { actorId, name, email, role }) => {
    const acting = await actor(ctx, actorId, "admin");
    if (outranks(role, acting.role)) throw fail("FORBIDDEN");
    if ((await byEmail(ctx, acting.workspaceId, email)) !== null) throw fail("TAKEN");
    const workspace = existing(await ctx.db.get("workspaces", acting.workspaceId));
    const memberId = await ctx.db.insert("members", {
      workspaceId: workspace._id,
      name,
      email: email.toLowerCase(),
      role,
      active: true,
      openTasks: 0,
      unread: 0,
      karma: 0,
    });
    await ctx.db.patch("workspaces", workspace._id, { activeMembers: workspace.activeMembers + 1 });
    await checkSeats(ctx, workspace);
    await log(ctx, acting, "member.add", name);
    return memberId;
  },
});

/** Who logs in with this address. The address is compared without regard to case. */
export const login = query({
  args: { workspaceId: v.id("workspaces"), email: v.string() },
  handler: async (ctx, { workspaceId, email }) => {
    const member = await byEmail(ctx, workspaceId, email);
    if (member === null || !member.active) return null;
    return { memberId: member._id, name: member.name, role: member.role };
  },
});

export const rename = mutation({
  args: { actorId: v.id("members"), name: v.string() },
  handler: async (ctx, { actorId, name }) => {
    const acting = await actor(ctx, actorId);
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_author", (q) => q.eq("authorId", actorId))
      .collect();
    for (const task of tasks) await ctx.db.patch("tasks", task._id, { authorName: name });
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_author", (q) => q.eq("authorId", actorId))
      .collect();
    for (const comment of comments) await ctx.db.patch("comments", comment._id, { authorName: name });
    await ctx.db.patch("members", actorId, { name });
    await log(ctx, acting, "member.rename", name);
    return null;
  },
});

export const changeEmail = mutation({
  args: { actorId: v.id("members"), email: v.string() },
  handler: async (ctx, { actorId, email }) => {
    const acting = await actor(ctx, actorId);
    const holder = await byEmail(ctx, acting.workspaceId, email);
    if (holder !== null && holder._id !== actorId) throw fail("TAKEN");
    const alias = await aliasOf(ctx, acting.workspaceId, email);
    if (alias !== null) await ctx.db.delete("aliases", alias._id);
    await ctx.db.patch("members", actorId, { email: email.toLowerCase() });
    await log(ctx, acting, "member.email", acting.name);
    return null;
  },
});

export const setRole = mutation({
  args: { actorId: v.id("members"), memberId: v.id("members"), role },
  handler: async (ctx, { actorId, memberId, role }) => {
    const acting = await actor(ctx, actorId, "admin");
    const member = await colleague(ctx, acting, memberId);
    if (outranks(member.role, acting.role) || outranks(role, acting.role)) throw fail("FORBIDDEN");
    await ctx.db.patch("members", memberId, { role });
    await checkOwners(ctx, acting.workspaceId);
    await checkSeats(ctx, existing(await ctx.db.get("workspaces", acting.workspaceId)));
    await log(ctx, acting, "member.role", `${member.name}: ${role}`);
    return null;
  },
});

/** Deactivated members keep everything they have, in case they come back. */
export const deactivate = mutation({
  args: { actorId: v.id("members"), memberId: v.id("members") },
  handler: async (ctx, { actorId, memberId }) => {
    const acting = await actor(ctx, actorId, "admin");
    const member = await colleague(ctx, acting, memberId);
    if (outranks(member.role, acting.role)) throw fail("FORBIDDEN");
    await setActive(ctx, member, false);
    await checkOwners(ctx, acting.workspaceId);
    await log(ctx, acting, "member.deactivate", member.name);
    return null;
  },
});

export const reactivate = mutation({
  args: { actorId: v.id("members"), memberId: v.id("members") },
  handler: async (ctx, { actorId, memberId }) => {
    const acting = await actor(ctx, actorId, "admin");
    const member = existing(await ctx.db.get("members", memberId));
    if (member.workspaceId !== acting.workspaceId || member.active) throw fail("NOT_FOUND");
    if (member.mergedInto !== undefined) throw fail("NOT_FOUND");
    if (outranks(member.role, acting.role)) throw fail("FORBIDDEN");
    await setActive(ctx, member, true);
    await checkSeats(ctx, existing(await ctx.db.get("workspaces", acting.workspaceId)));
    await log(ctx, acting, "member.reactivate", member.name);
    return null;
  },
});

/** Makes one account of two of the same person: `duplicateId` is gone afterwards, and `keepId` has everything. */
export const merge = mutation({
  args: { actorId: v.id("members"), keepId: v.id("members"), duplicateId: v.id("members") },
  handler: async (ctx, { actorId, keepId, duplicateId }) => {
    const acting = await actor(ctx, actorId, "admin");
    if (duplicateId === keepId || duplicateId === actorId) throw fail("INVALID");
    const kept = await colleague(ctx, acting, keepId);
    const duplicate = existing(await ctx.db.get("members", duplicateId));
    if (duplicate.workspaceId !== acting.workspaceId || duplicate.mergedInto !== undefined) throw fail("NOT_FOUND");
    if (outranks(kept.role, acting.role) || outranks(duplicate.role, acting.role)) throw fail("FORBIDDEN");
    await handOver(ctx, kept, duplicate);
    if (duplicate.active) await setActive(ctx, duplicate, false);
    await ctx.db.patch("members", duplicateId, { mergedInto: keepId });
    if (outranks(duplicate.role, kept.role)) await ctx.db.patch("members", keepId, { role: duplicate.role });
    await checkSeats(ctx, existing(await ctx.db.get("workspaces", acting.workspaceId)));
    await log(ctx, acting, "member.merge", duplicate.name);
    return null;
  },
});

/** Everybody in the workspace, by name. Only administrators see those who are not active. */
export const list = query({
  args: { actorId: v.id("members") },
  handler: async (ctx, { actorId }) => {
    const acting = await actor(ctx, actorId);
    const seesAll = acting.role === "admin" || acting.role === "owner";
    const members = (await all(ctx, acting.workspaceId)).filter((member) => {
      return member.mergedInto === undefined && (member.active || seesAll);
    });
    return members
      .map(({ _id, name, email, role, active, openTasks, unread, karma }) => {
        return { memberId: _id, name, email, role, active, openTasks, unread, karma: karma ?? 0 };
      })
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  },
});
