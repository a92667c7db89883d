import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { name: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("agents", args);
  },
});

/** How many tickets each agent still has to deal with; the busiest agent first, then by name. */
export const workload = query({
  args: {},
  handler: async (ctx) => {
    const agents = await ctx.db.query("agents").collect();
    const result = [];
    for (const agent of agents) {
      const tickets = await ctx.db
        .query("tickets")
        .filter((q) => q.eq(q.field("agentId"), agent._id))
        .collect();
      const active = tickets.filter((ticket) => ticket.status !== "closed");
      result.push({ name: agent.name, active: active.length });
    }
    return result.sort(
      (a, b) => b.active - a.active || (a.name < b.name ? -1 : 1),
    );
  },
});
