import { ConvexError } from "convex/values";
import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export const notFound = () => new ConvexError({ code: "NOT_FOUND" });

export async function projectById(ctx: QueryCtx, id: Id<"projects">) {
  const project = await ctx.db.get("projects", id);
  if (project === null || project.deletionId) throw notFound();
  return project;
}

export async function taskById(ctx: QueryCtx, id: Id<"tasks">) {
  const task = await ctx.db.get("tasks", id);
  if (task === null || task.deletionId) throw notFound();
  return task;
}

export async function commentById(ctx: QueryCtx, id: Id<"comments">) {
  const comment = await ctx.db.get("comments", id);
  if (comment === null || comment.deletionId) throw notFound();
  return comment;
}

export async function requireFreeName(ctx: QueryCtx, name: string) {
  const other = await ctx.db
    .query("projects")
    .withIndex("by_name", (q) =>
      q.eq("name", name).eq("deletionId", undefined),
    )
    .first();
  if (other !== null) throw new ConvexError({ code: "NAME_TAKEN" });
}
