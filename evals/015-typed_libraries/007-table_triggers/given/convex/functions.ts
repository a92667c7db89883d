import { ConvexError } from "convex/values";
import type { DataModel, Id } from "./_generated/dataModel";
import {
  internalMutation as plainInternalMutation,
  mutation as plainMutation,
  type MutationCtx,
} from "./_generated/server";
import { withTriggers, type Change, type Hooks } from "./lib/triggers";

async function record(
  ctx: MutationCtx,
  change: Change<DataModel, "projects" | "tasks" | "entries">,
) {
  await ctx.db.insert("journal", {
    table: change.table,
    operation: change.operation,
    before: change.oldDoc,
    after: change.newDoc,
  });
}

async function count(
  ctx: MutationCtx,
  id: Id<"projects">,
  total: number,
  open: number,
) {
  const project = await ctx.db.get("projects", id);
  if (project === null) return;
  await ctx.db.patch("projects", id, {
    total: project.total + total,
    open: project.open + open,
  });
}

const slugOf = (title: string) => title.toLowerCase().replaceAll(" ", "-");

const hooks: Hooks<DataModel> = {
  projects: {
    beforeDelete: (_ctx, project) => {
      if (project.locked) {
        throw new ConvexError({ code: "LOCKED", name: project.name });
      }
    },
    after: async (ctx, change) => {
      await record(ctx, change);
      if (change.operation === "delete") {
        const tasks = await ctx.db
          .query("tasks")
          .withIndex("by_project", (q) => q.eq("project", change.id))
          .collect();
        for (const task of tasks) await ctx.db.delete("tasks", task._id);
      }
    },
  },
  tasks: {
    beforeInsert: async (ctx, task) => {
      const project = await ctx.db.get("projects", task.project);
      if (project === null || project.locked) {
        throw new ConvexError({ code: "NO_PROJECT", title: task.title });
      }
      return { ...task, slug: slugOf(task.title) };
    },
    beforeUpdate: (_ctx, task, old) => {
      if (old.status === "done" && task.title !== old.title) {
        throw new ConvexError({ code: "DONE", title: old.title });
      }
      if (task.title !== old.title) return { ...task, slug: slugOf(task.title) };
    },
    after: async (ctx, change) => {
      const { oldDoc, newDoc } = change;
      if (oldDoc !== null) {
        await count(ctx, oldDoc.project, -1, oldDoc.status === "open" ? -1 : 0);
      }
      if (newDoc !== null) {
        await count(ctx, newDoc.project, 1, newDoc.status === "open" ? 1 : 0);
      }
      await record(ctx, change);
    },
  },
  entries: {
    beforeInsert: (_ctx, entry) =>
      entry.kind === "file"
        ? { ...entry, size: BigInt(entry.bytes.byteLength) }
        : undefined,
    after: record,
  },
};

export const mutation = withTriggers(plainMutation, hooks);
export const internalMutation = withTriggers(plainInternalMutation, hooks);
