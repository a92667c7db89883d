import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { status } from "./schema";

export const create = mutation({
  args: {
    customerId: v.id("customers"),
    subject: v.string(),
    priority: v.number(),
  },
  handler: async (ctx, args) => {
    return await ctx.db.insert("tickets", { ...args, status: "open" });
  },
});

export const assign = mutation({
  args: { ticketId: v.id("tickets"), agentId: v.nullable(v.id("agents")) },
  handler: async (ctx, { ticketId, agentId }) => {
    await ctx.db.patch("tickets", ticketId, { agentId });
    return null;
  },
});

export const update = mutation({
  args: {
    ticketId: v.id("tickets"),
    status: v.optional(status),
    priority: v.optional(v.number()),
  },
  handler: async (ctx, { ticketId, ...changes }) => {
    await ctx.db.patch("tickets", ticketId, changes);
    return null;
  },
});

export const comment = mutation({
  args: { ticketId: v.id("tickets"), text: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("comments", args);
  },
});

/** What an agent still has to deal with. */
export const inbox = query({
  args: { agentId: v.id("agents") },
  handler: async (ctx, { agentId }) => {
    const tickets = await ctx.db.query("tickets").collect();
    const mine = tickets.filter(
      (ticket) => ticket.agentId === agentId && ticket.status !== "closed",
    );
    const result = [];
    for (const ticket of mine.sort(mostUrgentFirst)) {
      result.push(await describe(ctx, ticket));
    }
    return result;
  },
});

/** The open tickets that somebody should take next. */
export const unassigned = query({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    const tickets = await ctx.db.query("tickets").collect();
    const free = tickets.filter(
      (ticket) => ticket.status === "open" && !ticket.agentId,
    );
    const result = [];
    for (const ticket of free.sort(mostUrgentFirst).slice(0, limit)) {
      result.push(await describe(ctx, ticket));
    }
    return result;
  },
});

function mostUrgentFirst(a: Doc<"tickets">, b: Doc<"tickets">): number {
  return (
    (b.priority ?? 0) - (a.priority ?? 0) || a._creationTime - b._creationTime
  );
}

async function describe(ctx: QueryCtx, ticket: Doc<"tickets">) {
  const customers = await ctx.db.query("customers").collect();
  const comments = await ctx.db.query("comments").collect();
  const last = comments
    .filter((comment) => comment.ticketId === ticket._id)
    .at(-1);
  return {
    id: ticket._id,
    subject: ticket.subject,
    customer:
      customers.find((customer) => customer._id === ticket.customerId)?.name ??
      "(deleted)",
    lastComment: last?.text ?? null,
  };
}
