import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { existing } from "./errors";

const LIMITS = {
  free: { projects: 3, seats: 3, bytes: 1000 },
  team: { projects: 8, seats: 8, bytes: 5000 },
};
const KINDS = ["projects", "seats", "bytes"] as const;

export type Numbers = Record<(typeof KINDS)[number], number>;

export async function limitsOf(ctx: QueryCtx, workspaceId: Id<"workspaces">) {
  const { plan } = existing(await ctx.db.get("workspaces", workspaceId));
  return LIMITS[plan];
}

/** Throws if the workspace has no room for what is to be added. */
export async function requireRoom(
  ctx: MutationCtx,
  workspaceId: Id<"workspaces">,
  added: Partial<Numbers>,
) {
  const limit = await exceeded(ctx, workspaceId, added);
  if (limit === undefined) return;
  const max = (await limitsOf(ctx, workspaceId))[limit];
  throw new ConvexError({ code: "LIMIT", limit, max });
}

/** The first limit that would be exceeded, if any. */
export async function exceeded(
  ctx: QueryCtx,
  workspaceId: Id<"workspaces">,
  added: Partial<Numbers>,
) {
  const max = await limitsOf(ctx, workspaceId);
  const used = await usageOf(ctx, workspaceId);
  return KINDS.find((kind) => {
    const more = added[kind] ?? 0;
    return more > 0 && used[kind] + more > max[kind];
  });
}

export async function usageOf(
  ctx: QueryCtx,
  workspaceId: Id<"workspaces">,
): Promise<Numbers> {
  const projects = await ctx.db
    .query("projects")
    .withIndex("by_workspace", (q) => q.eq("workspaceId", workspaceId))
    .collect();
  const sizes = await Promise.all(
    projects.map((project) => bytesOf(ctx, project._id)),
  );
  const members = await ctx.db
    .query("members")
    .withIndex("by_workspace_and_user", (q) => q.eq("workspaceId", workspaceId))
    .collect();
  const invitations = await ctx.db
    .query("invitations")
    .withIndex("by_workspace_and_user", (q) => q.eq("workspaceId", workspaceId))
    .collect();
  const open = invitations.filter(({ expiresAt }) => expiresAt > Date.now());
  return {
    projects: projects.filter(({ isArchived }) => !isArchived).length,
    seats: members.length + open.length,
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
  };
}

export async function bytesOf(ctx: QueryCtx, projectId: Id<"projects">) {
  const files = await ctx.db
    .query("files")
    .withIndex("by_project", (q) => q.eq("projectId", projectId))
    .collect();
  return files.reduce((sum, file) => sum + file.bytes, 0);
}
