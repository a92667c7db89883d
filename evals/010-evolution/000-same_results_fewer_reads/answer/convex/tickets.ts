import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
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
    const mine = await activeTickets(ctx, agentId);
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
    const free: Doc<"tickets">[] = [];
    for (const priorities of [[4], [3], [2], [1], [0, undefined]]) {
      free.push(...(await unassignedWith(ctx, priorities, limit)));
      if (free.length >= limit) break;
    }
    const result = [];
    for (const ticket of free.slice(0, limit)) {
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

export async function activeTickets(ctx: QueryCtx, agentId: Id<"agents">) {
  const [open, waiting] = await Promise.all(
    (["open", "waiting"] as const).map((status) =>
      ctx.db
        .query("tickets")
        .withIndex("by_agent_and_status_and_priority", (q) =>
          q.eq("agentId", agentId).eq("status", status),
        )
        .collect(),
    ),
  );
  return [...open, ...waiting];
}

/** Open tickets without an agent that have one of these priorities, which count as equal; the oldest first. */
async function unassignedWith(
  ctx: QueryCtx,
  priorities: (number | undefined)[],
  limit: number,
) {
  const tickets = [];
  for (const priority of priorities) {
    for (const agentId of [undefined, null]) {
      const oldest = await ctx.db
        .query("tickets")
        .withIndex("by_agent_and_status_and_priority", (q) =>
          q
            .eq("agentId", agentId)
            .eq("status", "open")
            .eq("priority", priority),
        )
        .take(limit);
      tickets.push(...oldest);
    }
  }
  return tickets.sort(mostUrgentFirst);
}

async function describe(ctx: QueryCtx, ticket: Doc<"tickets">) {
  const customer = await ctx.db.get("customers", ticket.customerId);
  const last = await ctx.db
    .query("comments")
    .withIndex("by_ticket", (q) => q.eq("ticketId", ticket._id))
    .order("desc")
    .first();
  return {
    id: ticket._id,
    subject: ticket.subject,
    customer: customer?.name ?? "(deleted)",
    lastComment: last?.text ?? null,
  };
}
