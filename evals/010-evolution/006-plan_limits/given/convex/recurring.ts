import { internalMutation } from "./_generated/server";

/** Creates this week's project of every workspace that wants one. */
export const monday = internalMutation({
  args: {},
  handler: async (ctx) => {
    const workspaces = await ctx.db.query("workspaces").collect();
    for (const { _id, isWeekly } of workspaces) {
      if (!isWeekly) continue;
      await ctx.db.insert("projects", {
        workspaceId: _id,
        name: `Week of ${new Date().toISOString().slice(0, 10)}`,
        isArchived: false,
      });
    }
    return null;
  },
});
