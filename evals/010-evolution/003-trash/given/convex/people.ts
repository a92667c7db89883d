import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

/** What somebody has to do, newest first. */
export const todo = query({
  args: { assignee: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { assignee, paginationOpts }) => {
    const tasks = await ctx.db
      .query("tasks")
      .withIndex("by_assignee_and_done", (q) =>
        q.eq("assignee", assignee).eq("done", false),
      )
      .order("desc")
      .paginate(paginationOpts);
    const page = tasks.page.map(({ _id, title }) => ({ id: _id, title }));
    return { ...tasks, page };
  },
});

/** Up to ten tasks with these words in their titles. */
export const search = query({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const tasks = await ctx.db
      .query("tasks")
      .withSearchIndex("search_title", (q) => q.search("title", text))
      .take(10);
    return tasks.map(({ _id, title }) => ({ id: _id, title }));
  },
});
