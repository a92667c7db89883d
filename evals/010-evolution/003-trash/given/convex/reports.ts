import { internalMutation, query } from "./_generated/server";

export const overview = query({
  args: {},
  handler: async (ctx) => {
    const projects = await ctx.db.query("projects").collect();
    const tasks = await ctx.db.query("tasks").collect();
    const comments = await ctx.db.query("comments").collect();
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
    for (const task of await ctx.db.query("tasks").collect()) {
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
