import { internalMutation, query } from "./_generated/server";

export const overview = query({
  args: {},
  handler: async (ctx) => {
    const projects = await ctx.db
      .query("projects")
      .withIndex("by_deletion", (q) => q.eq("deletionId", undefined))
      .collect();
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_deletion", (q) => q.eq("deletionId", undefined))
      .collect();
    const comments = await ctx.db
      .query("comments")
      .withIndex("by_deletion", (q) => q.eq("deletionId", undefined))
      .collect();
    return {
      projects: projects.length,
      tasks: tasks.length,
      done: tasks.filter(({ done }) => done).length,
      comments: comments.length,
    };
  },
});

/** Tells everybody what they have to do. */
export const remind = internalMutation({
  args: {},
  handler: async (ctx) => {
    const titles = new Map<string, string[]>();
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_deletion", (q) => q.eq("deletionId", undefined))
      .collect();
    for (const task of tasks) {
      if (task.done) continue;
      const others = titles.get(task.assignee) ?? [];
      titles.set(task.assignee, [...others, task.title]);
    }
    for (const [assignee, theirs] of titles) {
      await ctx.db.insert("reminders", { assignee, titles: theirs });
    }
    return null;
  },
});
