import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import {
  failure,
  membership,
  requireMember,
  requireTicket,
  seenTicket,
  sees,
} from "./access";

const MOST_FOUND = 10;

export const create = mutation({
  args: {
    orgId: v.id("orgs"),
    title: v.string(),
    body: v.string(),
    isPrivate: v.boolean(),
    assignee: v.nullable(v.string()),
  },
  handler: async (ctx, args) => {
    const { user } = await requireMember(ctx, args.orgId);
    const { assignee } = args;
    if (
      assignee !== null &&
      (await membership(ctx, args.orgId, assignee)) === null
    ) {
      throw failure("INVALID_ASSIGNEE");
    }
    return await ctx.db.insert("tickets", {
      ...args,
      open: true,
      creator: user,
    });
  },
});

export const close = mutation({
  args: { ticketId: v.id("tickets") },
  handler: async (ctx, { ticketId }) => {
    await requireTicket(ctx, ticketId);
    await ctx.db.patch("tickets", ticketId, { open: false });
    return null;
  },
});

export const setPrivate = mutation({
  args: { ticketId: v.id("tickets"), isPrivate: v.boolean() },
  handler: async (ctx, { ticketId, isPrivate }) => {
    const { member, ticket } = await requireTicket(ctx, ticketId);
    if (member.role !== "admin" && ticket.creator !== member.user) {
      throw failure("FORBIDDEN");
    }
    await ctx.db.patch("tickets", ticketId, { isPrivate });
    return null;
  },
});

export const remove = mutation({
  args: { ticketId: v.id("tickets") },
  handler: async (ctx, { ticketId }) => {
    const { member } = await requireTicket(ctx, ticketId);
    if (member.role !== "admin") {
      throw failure("FORBIDDEN");
    }
    await ctx.db.delete("tickets", ticketId);
    return null;
  },
});

export const markDuplicate = mutation({
  args: { ticketId: v.id("tickets"), originalId: v.id("tickets") },
  handler: async (ctx, { ticketId, originalId }) => {
    const { ticket } = await requireTicket(ctx, ticketId);
    const { ticket: original } = await requireTicket(ctx, originalId);
    if (ticketId === originalId || ticket.orgId !== original.orgId) {
      throw failure("NOT_FOUND");
    }
    await ctx.db.patch("tickets", ticketId, { originalId });
    return null;
  },
});

export const get = query({
  args: { ticketId: v.id("tickets") },
  handler: async (ctx, { ticketId }) => {
    const seen = await seenTicket(ctx, ticketId);
    if (seen === null) {
      return null;
    }
    const { title, body, open, isPrivate, creator, assignee } = seen.ticket;
    const original = await seenOriginal(ctx, seen.member, seen.ticket);
    return { title, body, open, isPrivate, creator, assignee, original };
  },
});

async function seenOriginal(
  ctx: QueryCtx,
  member: Doc<"members">,
  ticket: Doc<"tickets">,
) {
  if (ticket.originalId === undefined) {
    return null;
  }
  const original = await ctx.db.get("tickets", ticket.originalId);
  if (original === null || !sees(member, original)) {
    return null;
  }
  return { ticketId: original._id, title: original.title };
}

export const duplicates = query({
  args: { ticketId: v.id("tickets") },
  handler: async (ctx, { ticketId }) => {
    const seen = await seenTicket(ctx, ticketId);
    if (seen === null) {
      return null;
    }
    const tickets = await ctx.db
      .query("tickets")
      .withIndex("by_original", (q) => q.eq("originalId", ticketId))
      .collect();
    return tickets
      .filter((ticket) => sees(seen.member, ticket))
      .map((ticket) => ticket.title)
      .sort();
  },
});

export const list = query({
  args: { orgId: v.id("orgs"), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { orgId, paginationOpts }) => {
    const { role, user } = await requireMember(ctx, orgId);
    // The database filters before it counts what is on a page.
    const result = await ctx.db
      .query("tickets")
      .withIndex("by_org", (q) => q.eq("orgId", orgId))
      .order("desc")
      .filter((q) =>
        q.or(
          role === "admin",
          q.eq(q.field("isPrivate"), false),
          q.eq(q.field("creator"), user),
          q.eq(q.field("assignee"), user),
        ),
      )
      .paginate(paginationOpts);
    const page = result.page.map(({ _id, title, open }) => ({
      ticketId: _id,
      title,
      open,
    }));
    return { ...result, page };
  },
});

export const counts = query({
  args: { orgId: v.id("orgs") },
  handler: async (ctx, { orgId }) => {
    const member = await requireMember(ctx, orgId);
    const counted = { open: 0, closed: 0 };
    const tickets = ctx.db
      .query("tickets")
      .withIndex("by_org", (q) => q.eq("orgId", orgId));
    for await (const ticket of tickets) {
      if (sees(member, ticket)) {
        counted[ticket.open ? "open" : "closed"] += 1;
      }
    }
    return counted;
  },
});

export const find = query({
  args: { orgId: v.id("orgs"), prefix: v.string() },
  handler: async (ctx, { orgId, prefix }) => {
    const member = await requireMember(ctx, orgId);
    const found: { ticketId: Id<"tickets">; title: string }[] = [];
    const tickets = ctx.db
      .query("tickets")
      .withIndex("by_org_and_title", (q) =>
        q.eq("orgId", orgId).gte("title", prefix).lt("title", `${prefix}\uffff`),
      );
    for await (const ticket of tickets) {
      if (sees(member, ticket)) {
        found.push({ ticketId: ticket._id, title: ticket.title });
      }
      if (found.length === MOST_FOUND) {
        break;
      }
    }
    return found;
  },
});
