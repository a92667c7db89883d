import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { dayOf, isDay } from "./hours";
import { priority, status } from "./schema";
import {
  agentOf,
  create,
  distribute,
  fail,
  found,
  isActive,
  loadOf,
  plan,
  record,
  setStatus,
  upToDate,
  withClock,
} from "./tickets";

type Ticket = Doc<"tickets">;
const ADMIN = "admin";
const onTicket = { user: v.string(), ticket: v.id("tickets") };

function checkAdmin(user: string): void {
  if (user !== ADMIN) throw fail("FORBIDDEN");
}

async function checkAgent(ctx: QueryCtx, user: string): Promise<void> {
  if ((await agentOf(ctx, user)) === null) throw fail("FORBIDDEN");
}

/** Whether the user sees what only the desk sees. Customers may ask for their own tickets only. */
async function isDesk(ctx: QueryCtx, user: string, ticket: Ticket): Promise<boolean> {
  if (user === ADMIN || (await agentOf(ctx, user)) !== null) return true;
  if (ticket.customer !== user) throw fail("FORBIDDEN");
  return false;
}

async function active(ctx: MutationCtx, id: Id<"tickets">): Promise<Ticket> {
  const ticket = await withClock(ctx, id);
  if (!isActive(ticket)) throw fail("CLOSED");
  return ticket;
}

/** Adds a message to the ticket, or to the one that it has been merged into. */
async function addMessage(ctx: MutationCtx, id: Id<"tickets">, message: { author: string; body: string; internal: boolean }) {
  let ticket = await upToDate(ctx, id);
  while (ticket.mergedInto !== null) ticket = await upToDate(ctx, ticket.mergedInto);
  if (ticket.status === "closed") throw fail("CLOSED");
  await ctx.db.insert("messages", { ticket: ticket._id, ...message });
  return ticket;
}

export const setAgent = mutation({
  args: { user: v.string(), agent: v.string(), capacity: v.number(), online: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { user, agent, capacity, online }) => {
    checkAdmin(user);
    if (!Number.isInteger(capacity) || capacity < 0 || agent === ADMIN) throw fail("INVALID");
    const former = await agentOf(ctx, agent);
    if (former === null) {
      const ticket = await ctx.db
        .query("tickets")
        .withIndex("by_customer", (q) => q.eq("customer", agent))
        .first();
      if (ticket !== null) throw fail("INVALID");
      await ctx.db.insert("agents", { name: agent, capacity, online });
    } else {
      await ctx.db.patch("agents", former._id, { capacity, online });
    }
    await distribute(ctx);
    return null;
  },
});

export const setHoliday = mutation({
  args: { user: v.string(), date: v.string(), holiday: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { user, date, holiday }) => {
    checkAdmin(user);
    if (!isDay(date) || date <= dayOf(Date.now())) throw fail("INVALID");
    const former = await ctx.db
      .query("holidays")
      .withIndex("by_date", (q) => q.eq("date", date))
      .unique();
    if (holiday && former === null) await ctx.db.insert("holidays", { date });
    if (!holiday && former !== null) await ctx.db.delete("holidays", former._id);
    const open = await ctx.db
      .query("tickets")
      .withIndex("by_status", (q) => q.eq("status", "open"))
      .collect();
    for (const { _id } of open) {
      await withClock(ctx, _id);
      await plan(ctx, _id);
    }
    return null;
  },
});

export const open = mutation({
  args: { user: v.string(), subject: v.string(), body: v.string(), priority },
  returns: v.id("tickets"),
  handler: async (ctx, { user, subject, body, priority }) => {
    if (user === ADMIN || (await agentOf(ctx, user)) !== null) throw fail("FORBIDDEN");
    const ticket = await create(ctx, user, null, { customer: user, subject, priority, tags: [] });
    await ctx.db.insert("messages", { ticket, author: user, body, internal: false });
    await distribute(ctx);
    return ticket;
  },
});

export const reply = mutation({
  args: { ...onTicket, body: v.string() },
  returns: v.null(),
  handler: async (ctx, { user, ticket: id, body }) => {
    if (user === ADMIN) throw fail("FORBIDDEN");
    await isDesk(ctx, user, await found(ctx, id));
    const ticket = await addMessage(ctx, id, { author: user, body, internal: false });
    if (ticket.customer !== user || ticket.status === "open") return null;
    await setStatus(ctx, ticket._id, "open", user);
    const assignee = ticket.assignee === null ? null : await agentOf(ctx, ticket.assignee);
    if (assignee !== null && !assignee.online) {
      await ctx.db.patch("tickets", ticket._id, { assignee: null });
      await record(ctx, ticket._id, "unassigned", "system");
    }
    await distribute(ctx);
    return null;
  },
});

export const ask = mutation({
  args: { ...onTicket, body: v.string() },
  returns: v.null(),
  handler: async (ctx, { user, ticket, body }) => {
    await checkAgent(ctx, user);
    await active(ctx, ticket);
    await ctx.db.insert("messages", { ticket, author: user, body, internal: false });
    await setStatus(ctx, ticket, "waiting", user);
    return null;
  },
});

export const solve = mutation({
  args: onTicket,
  returns: v.null(),
  handler: async (ctx, { user, ticket }) => {
    await checkAgent(ctx, user);
    await active(ctx, ticket);
    await setStatus(ctx, ticket, "solved", user);
    await distribute(ctx);
    return null;
  },
});

export const note = mutation({
  args: { ...onTicket, body: v.string() },
  returns: v.null(),
  handler: async (ctx, { user, ticket, body }) => {
    await checkAgent(ctx, user);
    await addMessage(ctx, ticket, { author: user, body, internal: true });
    return null;
  },
});

export const prioritize = mutation({
  args: { ...onTicket, priority },
  returns: v.null(),
  handler: async (ctx, { user, ticket: id, priority }) => {
    await checkAgent(ctx, user);
    const ticket = await active(ctx, id);
    if (ticket.priority === priority) return null;
    await ctx.db.patch("tickets", id, { priority });
    await record(ctx, id, "priority", user, priority);
    await plan(ctx, id);
    return null;
  },
});

export const tag = mutation({
  args: { ...onTicket, tags: v.array(v.string()) },
  returns: v.null(),
  handler: async (ctx, { user, ticket, tags }) => {
    await checkAgent(ctx, user);
    await ctx.db.patch("tickets", ticket, { tags: [...new Set(tags)].sort() });
    return null;
  },
});

export const assign = mutation({
  args: { ...onTicket, agent: v.string() },
  returns: v.null(),
  handler: async (ctx, { user, ticket: id, agent }) => {
    await checkAgent(ctx, user);
    if ((await agentOf(ctx, agent)) === null) throw fail("INVALID");
    const ticket = await active(ctx, id);
    if (ticket.assignee === agent) return null;
    await ctx.db.patch("tickets", id, { assignee: agent });
    await record(ctx, id, "assigned", user, agent);
    await distribute(ctx);
    return null;
  },
});

export const merge = mutation({
  args: { ...onTicket, into: v.id("tickets") },
  returns: v.null(),
  handler: async (ctx, { user, ticket: id, into }) => {
    await checkAgent(ctx, user);
    const customers = [(await found(ctx, id)).customer, (await found(ctx, into)).customer];
    if (id === into || customers[0] !== customers[1]) throw fail("INVALID");
    const [ticket, target] = [await active(ctx, id), await active(ctx, into)];
    const messages = await ctx.db
      .query("messages")
      .withIndex("by_ticket", (q) => q.eq("ticket", id))
      .collect();
    for (const { _id } of messages) await ctx.db.patch("messages", _id, { ticket: into });
    await ctx.db.patch("tickets", id, { mergedInto: into });
    await setStatus(ctx, id, "closed", user);
    await ctx.db.patch("tickets", into, {
      tags: [...new Set([...target.tags, ...ticket.tags])].sort(),
      used: Math.max(target.used, ticket.used),
    });
    await record(ctx, into, "merged", user, id);
    await plan(ctx, into);
    await distribute(ctx);
    return null;
  },
});

export const split = mutation({
  args: { ...onTicket, messages: v.array(v.id("messages")), subject: v.string() },
  returns: v.id("tickets"),
  handler: async (ctx, { user, ticket: id, messages, subject }) => {
    await checkAgent(ctx, user);
    const own = await ctx.db
      .query("messages")
      .withIndex("by_ticket", (q) => q.eq("ticket", id))
      .collect();
    const movable = new Set(own.slice(1).map(({ _id }) => _id));
    if (messages.length === 0 || messages.some((message) => !movable.has(message))) throw fail("INVALID");
    const { customer, priority, tags } = await active(ctx, id);
    const created = await create(ctx, user, id, { customer, subject, priority, tags });
    for (const message of messages) await ctx.db.patch("messages", message, { ticket: created });
    await record(ctx, id, "split", user, created);
    await distribute(ctx);
    return created;
  },
});

export const ticket = query({
  args: onTicket,
  handler: async (ctx, { user, ticket: id }) => {
    const ticket = await found(ctx, id);
    const seesAll = await isDesk(ctx, user, ticket);
    const { customer, subject, priority, status, tags, assignee, overdue, due, mergedInto } = ticket;
    const ofDesk = seesAll ? { tags, assignee, due } : { tags: [], assignee: null, due: null };
    return { id, customer, subject, priority, status, overdue, mergedInto, ...ofDesk };
  },
});

export const messages = query({
  args: onTicket,
  handler: async (ctx, { user, ticket }) => {
    const seesAll = await isDesk(ctx, user, await found(ctx, ticket));
    const messages = await ctx.db
      .query("messages")
      .withIndex("by_ticket", (q) => q.eq("ticket", ticket))
      .collect();
    return messages
      .filter(({ internal }) => seesAll || !internal)
      .map(({ _id, author, body, internal }) => ({ id: _id, author, body, internal }));
  },
});

export const events = query({
  args: onTicket,
  handler: async (ctx, { user, ticket }) => {
    if (user !== ADMIN) await checkAgent(ctx, user);
    const events = await ctx.db
      .query("events")
      .withIndex("by_ticket", (q) => q.eq("ticket", ticket))
      .collect();
    return events.map(({ at, by, what, detail }) => ({ at, by, what, detail }));
  },
});

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

async function hasWords(ctx: QueryCtx, ticket: Ticket, words: string[], seesAll: boolean): Promise<boolean> {
  if (words.length === 0) return true;
  const messages = await ctx.db
    .query("messages")
    .withIndex("by_ticket", (q) => q.eq("ticket", ticket._id))
    .collect();
  const visible = messages.filter(({ internal }) => seesAll || !internal);
  const present = new Set([ticket.subject, ...visible.map(({ body }) => body)].flatMap(wordsOf));
  return words.every((word) => present.has(word));
}

function facet(values: string[]) {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.keys()].sort().map((value) => ({ value, count: counts.get(value) ?? 0 }));
}

export const find = query({
  args: {
    user: v.string(),
    text: v.string(),
    status: v.optional(status),
    priority: v.optional(priority),
    tag: v.optional(v.string()),
  },
  handler: async (ctx, { user, text, status, priority, tag }) => {
    const seesAll = user === ADMIN || (await agentOf(ctx, user)) !== null;
    const all = seesAll
      ? await ctx.db.query("tickets").collect()
      : await ctx.db
          .query("tickets")
          .withIndex("by_customer", (q) => q.eq("customer", user))
          .collect();
    const words = wordsOf(text);
    const candidates: Ticket[] = [];
    for (const ticket of all) {
      if (ticket.mergedInto === null && (await hasWords(ctx, ticket, words, seesAll))) candidates.push(ticket);
    }
    const tests = {
      status: (ticket: Ticket) => status === undefined || ticket.status === status,
      priority: (ticket: Ticket) => priority === undefined || ticket.priority === priority,
      tag: (ticket: Ticket) => tag === undefined || (seesAll && ticket.tags.includes(tag)),
    };
    const matching = (...names: (keyof typeof tests)[]) => {
      return candidates.filter((ticket) => names.every((name) => tests[name](ticket)));
    };
    const matches = matching("status", "priority", "tag").reverse();
    return {
      total: matches.length,
      tickets: matches.slice(0, 20).map(({ _id }) => _id),
      facets: {
        status: facet(matching("priority", "tag").map((ticket) => ticket.status)),
        priority: facet(matching("status", "tag").map((ticket) => ticket.priority)),
        tag: seesAll ? facet(matching("status", "priority").flatMap((ticket) => ticket.tags)) : [],
      },
    };
  },
});

export const agents = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    if (user !== ADMIN) await checkAgent(ctx, user);
    const agents = await ctx.db.query("agents").withIndex("by_name").collect();
    return await Promise.all(
      agents.map(async ({ name, online, capacity }) => ({ name, online, capacity, load: await loadOf(ctx, name) })),
    );
  },
});
