import { ConvexError, v } from "convex/values";
import { internalMutation, mutation } from "./functions";
import { status } from "./schema";

const changes = v.object({
  project: v.optional(v.id("projects")),
  title: v.optional(v.string()),
  status: v.optional(status),
  due: v.optional(v.nullable(v.number())),
});

export const createProject = mutation({
  args: { name: v.string() },
  returns: v.id("projects"),
  handler: async (ctx, { name }) =>
    await ctx.db.insert("projects", { name, locked: false, open: 0, total: 0 }),
});

export const lock = mutation({
  args: v.object({ id: v.id("projects"), locked: v.boolean() }),
  returns: v.null(),
  handler: async (ctx, { id, locked }) => {
    await ctx.db.patch(id, { locked });
    return null;
  },
});

export const removeProject = mutation({
  args: { id: v.id("projects") },
  handler: async (ctx, { id }) => {
    await ctx.db.delete("projects", id);
  },
});

export const create = mutation({
  args: { project: v.id("projects"), title: v.string() },
  returns: v.id("tasks"),
  handler: async (ctx, { project, title }) =>
    await ctx.db.insert("tasks", {
      project,
      title,
      slug: "?",
      status: "open",
      labels: [],
    }),
});

/** `due: null` removes the field. `short` leaves out the name of the table. */
export const edit = mutation({
  args: { id: v.id("tasks"), changes, short: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { id, changes: { due, ...rest }, short }) => {
    const patch =
      due === undefined ? rest : { ...rest, due: due === null ? undefined : due };
    if (short) await ctx.db.patch(id, patch);
    else await ctx.db.patch("tasks", id, patch);
    return null;
  },
});

export const rewrite = mutation({
  args: {
    id: v.id("tasks"),
    project: v.id("projects"),
    title: v.string(),
    labels: v.array(v.string()),
    short: v.boolean(),
  },
  returns: v.null(),
  handler: async (ctx, { id, short, ...fields }) => {
    const task = { ...fields, slug: "?", status: "open" as const };
    if (short) await ctx.db.replace(id, task);
    else await ctx.db.replace("tasks", id, task);
    return null;
  },
});

export const remove = mutation({
  args: { id: v.id("tasks"), short: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { id, short }) => {
    if (short) await ctx.db.delete(id);
    else await ctx.db.delete("tasks", id);
    return null;
  },
});

/** All at the same time. */
export const burst = mutation({
  args: {
    project: v.id("projects"),
    id: v.id("tasks"),
    titles: v.array(v.string()),
    dues: v.array(v.number()),
  },
  returns: v.array(v.id("tasks")),
  handler: async (ctx, { project, id, titles, dues }) => {
    const created = titles.map((title) =>
      ctx.db.insert("tasks", {
        project,
        title,
        slug: "?",
        status: "open",
        labels: [],
      }),
    );
    const changed = [
      ...dues.map((due) => ctx.db.patch("tasks", id, { due })),
      ctx.db.patch("tasks", id, { labels: ["late"] }),
      ctx.db.patch(id, { status: "done" }),
    ];
    await Promise.all(changed);
    return await Promise.all(created);
  },
});

/** Tries to rename the task, and takes note of why it could not. */
export const tryRename = mutation({
  args: { id: v.id("tasks"), title: v.string() },
  returns: v.string(),
  handler: async (ctx, { id, title }) => {
    try {
      await ctx.db.patch("tasks", id, { title });
      return "renamed";
    } catch (error) {
      if (!(error instanceof ConvexError)) throw error;
      await ctx.db.patch("tasks", id, { labels: ["refused"] });
      return "refused";
    }
  },
});

export const setSetting = mutation({
  args: { key: v.string(), value: v.optional(v.string()) },
  returns: v.number(),
  handler: async (ctx, { key, value }) => {
    const all = await ctx.db.query("settings").collect();
    const found = all.find((setting) => setting.key === key);
    if (found === undefined && value !== undefined) {
      await ctx.db.insert("settings", { key, value });
    } else if (found !== undefined && value === undefined) {
      await ctx.db.delete(found._id);
    } else if (found !== undefined && value !== undefined) {
      await ctx.db.patch(found._id, { value });
    }
    return (await ctx.db.query("settings").collect()).length;
  },
});

/** A function of the shortest form. */
export const finishAll = mutation(async (ctx) => {
  const tasks = await ctx.db.query("tasks").collect();
  for (const task of tasks) await ctx.db.patch(task._id, { status: "done" });
  return tasks.length;
});

export const purge = internalMutation({
  args: { project: v.id("projects") },
  returns: v.number(),
  handler: async (ctx, { project }) => {
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_project", (q) => q.eq("project", project))
      .collect();
    await Promise.all(tasks.map((task) => ctx.db.delete("tasks", task._id)));
    return tasks.length;
  },
});
