import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { priority, status } from "./schema";

export const create = mutation({
  args: { subject: v.string(), priority, hasConsented: v.literal(true) },
  handler: async (ctx, args) => {
    return await ctx.db.insert("tickets", { ...args, status: "open" });
  },
});

export const setStatus = mutation({
  args: { ticketId: v.id("tickets"), status },
  handler: async (ctx, args) => {
    const ticket = await ctx.db.get("tickets", args.ticketId);
    if (ticket === null) {
      throw new Error(`There is no ticket ${args.ticketId}`);
    }
    if (ticket.status === "closed") {
      throw new Error(`The ticket ${args.ticketId} is closed`);
    }
    await ctx.db.patch("tickets", args.ticketId, { status: args.status });
    return null;
  },
});

export const byStatus = query({
  args: { status },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("tickets")
      .withIndex("by_status", (q) => q.eq("status", args.status))
      .collect();
  },
});
