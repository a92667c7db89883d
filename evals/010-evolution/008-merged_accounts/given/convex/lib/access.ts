import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import { existing, fail } from "./errors";
import { liveTask } from "./trash";

type Role = Doc<"members">["role"];

const RANKS: Record<Role, number> = { guest: 0, member: 1, admin: 2, owner: 3 };

export function outranks(role: Role, other: Role): boolean {
  return RANKS[role] > RANKS[other];
}

/** Whoever acts must be active. Deactivated members cannot do or see anything. */
export async function actor(ctx: QueryCtx, actorId: Id<"members">, atLeast: Role = "guest"): Promise<Doc<"members">> {
  const member = await ctx.db.get("members", actorId);
  if (member === null || !member.active || RANKS[member.role] < RANKS[atLeast]) throw fail("FORBIDDEN");
  return member;
}

/** An active member of the actor's workspace. */
export async function colleague(ctx: QueryCtx, acting: Doc<"members">, memberId: Id<"members">) {
  const member = existing(await ctx.db.get("members", memberId));
  if (member.workspaceId !== acting.workspaceId || !member.active) throw fail("NOT_FOUND");
  return member;
}

export async function accessOf(ctx: QueryCtx, projectId: Id<"projects">, memberId: Id<"members">) {
  return await ctx.db
    .query("access")
    .withIndex("by_project", (q) => q.eq("projectId", projectId).eq("memberId", memberId))
    .unique();
}

/**
 * Everybody but guests may read and write in all projects of their workspace. Guests may do in a project what they have been
 * given access to.
 */
export async function mayDo(ctx: QueryCtx, member: Doc<"members">, project: Doc<"projects">, level: "read" | "write") {
  if (project.workspaceId !== member.workspaceId) return false;
  if (member.role !== "guest") return true;
  const access = await accessOf(ctx, project._id, member._id);
  return access !== null && (level === "read" || access.level === "write");
}

export async function projectFor(
  ctx: QueryCtx,
  member: Doc<"members">,
  projectId: Id<"projects">,
  level: "read" | "write",
): Promise<Doc<"projects">> {
  const project = existing(await ctx.db.get("projects", projectId));
  if (!(await mayDo(ctx, member, project, level))) throw fail("NOT_FOUND");
  return project;
}

export async function taskFor(ctx: QueryCtx, member: Doc<"members">, taskId: Id<"tasks">, level: "read" | "write") {
  const task = await liveTask(ctx, taskId);
  await projectFor(ctx, member, task.projectId, level);
  return task;
}
