import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { tickets } from "./machines";
import schema from "./schema";

const ticket = schema.doc("tickets");

export const open = mutation({
  args: { title: v.string() },
  returns: ticket,
  handler: async (ctx, { title }) => await tickets.create(ctx, { title }),
});

export const assign = mutation({
  args: { id: v.id("tickets"), assignee: v.id("people") },
  returns: ticket,
  handler: async (ctx, { id, assignee }) => {
    const found = await ctx.db.get("tickets", id);
    if (found === null) throw new Error("No such ticket");
    return await tickets.transition(ctx, found, "assign", { assignee });
  },
});

export const release = mutation({
  args: { id: v.id("tickets") },
  returns: ticket,
  handler: async (ctx, { id }) => {
    const found = await ctx.db.get("tickets", id);
    if (found === null) throw new Error("No such ticket");
    return await tickets.transition(ctx, found, "release");
  },
});

/** Closes a ticket that is assigned to someone. */
export const close = mutation({
  args: { id: v.id("tickets"), at: v.number() },
  returns: v.nullable(ticket),
  handler: async (ctx, { id, at }) => {
    const found = await ctx.db.get("tickets", id);
    if (found === null || !tickets.is(found, "assigned")) return null;
    return await tickets.transition(ctx, found, "close", { closedAt: at });
  },
});
