import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { afterWorking, HOUR, workedBetween } from "./hours";

type Ticket = Doc<"tickets">;
type Code = "FORBIDDEN" | "INVALID" | "CLOSED";
const LIMITS: Record<Ticket["priority"], number> = { urgent: 2 * HOUR, high: 8 * HOUR, normal: 16 * HOUR, low: 40 * HOUR };
const RANKS: Record<Ticket["priority"], number> = { urgent: 0, high: 1, normal: 2, low: 3 };
const SOLVED_FOR = 72 * HOUR;

export function fail(code: Code): ConvexError<{ code: Code }> {
  return new ConvexError({ code });
}

export function isActive({ status }: Ticket): boolean {
  return status === "open" || status === "waiting";
}

export async function found(ctx: QueryCtx, id: Id<"tickets">): Promise<Ticket> {
  const ticket = await ctx.db.get("tickets", id);
  if (ticket === null) throw new Error("Tickets are never deleted");
  return ticket;
}

export async function record(
  ctx: MutationCtx,
  ticket: Id<"tickets">,
  what: Doc<"events">["what"],
  by: string,
  detail: string | null = null,
  at = Date.now(),
): Promise<void> {
  await ctx.db.insert("events", { ticket, at, by, what, detail });
}

async function holidaysOf(ctx: QueryCtx): Promise<Set<string>> {
  return new Set((await ctx.db.query("holidays").collect()).map(({ date }) => date));
}

/** The ticket after everything that has happened to it by itself, even if the scheduler is late. */
export async function upToDate(ctx: MutationCtx, id: Id<"tickets">): Promise<Ticket> {
  const ticket = await found(ctx, id);
  if (ticket.due !== null && ticket.due <= Date.now()) {
    await ctx.db.patch("tickets", id, { overdue: true, due: null });
    await record(ctx, id, "overdue", "system", null, ticket.due);
  }
  if (ticket.status === "solved" && ticket.since + SOLVED_FOR <= Date.now()) {
    await ctx.db.patch("tickets", id, { status: "closed" });
    await record(ctx, id, "status", "system", "closed", ticket.since + SOLVED_FOR);
  }
  return await found(ctx, id);
}

/** The ticket with a clock that shows the present time. */
export async function withClock(ctx: MutationCtx, id: Id<"tickets">): Promise<Ticket> {
  const ticket = await upToDate(ctx, id);
  if (ticket.status !== "open") return ticket;
  const since = Date.now();
  const used = ticket.used + workedBetween(ticket.since, since, await holidaysOf(ctx));
  await ctx.db.patch("tickets", id, { used, since });
  return { ...ticket, used, since };
}

/** Call it after every change that the clock depends on. */
export async function plan(ctx: MutationCtx, id: Id<"tickets">): Promise<void> {
  const ticket = await found(ctx, id);
  const left = LIMITS[ticket.priority] - ticket.used;
  if (isActive(ticket) && !ticket.overdue && left <= 0) {
    await ctx.db.patch("tickets", id, { overdue: true, due: null });
    await record(ctx, id, "overdue", "system");
    return;
  }
  const isRunning = ticket.status === "open" && !ticket.overdue;
  const due = isRunning ? afterWorking(ticket.since, left, await holidaysOf(ctx)) : null;
  if (due === ticket.due) return;
  await ctx.db.patch("tickets", id, { due });
  if (due !== null) await ctx.scheduler.runAt(due, internal.clock.tick, { ticket: id });
}

export async function setStatus(ctx: MutationCtx, id: Id<"tickets">, status: Ticket["status"], by: string): Promise<void> {
  const ticket = await withClock(ctx, id);
  if (ticket.status === status) return;
  await ctx.db.patch("tickets", id, { status, since: Date.now() });
  await record(ctx, id, "status", by, status);
  if (status === "solved") await ctx.scheduler.runAfter(SOLVED_FOR, internal.clock.tick, { ticket: id });
  await plan(ctx, id);
}

export async function create(
  ctx: MutationCtx,
  by: string,
  origin: Id<"tickets"> | null,
  fields: Pick<Ticket, "customer" | "subject" | "priority" | "tags">,
): Promise<Id<"tickets">> {
  const id = await ctx.db.insert("tickets", {
    ...fields,
    status: "open",
    assignee: null,
    mergedInto: null,
    overdue: false,
    due: null,
    used: 0,
    since: Date.now(),
  });
  await record(ctx, id, "opened", by, origin);
  await plan(ctx, id);
  return id;
}

export async function agentOf(ctx: QueryCtx, name: string): Promise<Doc<"agents"> | null> {
  return await ctx.db
    .query("agents")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}

export async function loadOf(ctx: QueryCtx, name: string): Promise<number> {
  const loads = (["open", "waiting"] as const).map(
    async (status) =>
      await ctx.db
        .query("tickets")
        .withIndex("by_assignee", (q) => q.eq("assignee", name).eq("status", status))
        .collect(),
  );
  return (await Promise.all(loads)).flat().length;
}

/** Gives tickets to agents until no ticket waits or no agent is available. */
export async function distribute(ctx: MutationCtx): Promise<void> {
  const agents = await ctx.db.query("agents").withIndex("by_name").collect();
  const online = agents.filter((agent) => agent.online);
  const loads = await Promise.all(online.map(async (agent) => ({ ...agent, load: await loadOf(ctx, agent.name) })));
  const waiting = await ctx.db
    .query("tickets")
    .withIndex("by_status", (q) => q.eq("status", "open").eq("assignee", null))
    .collect();
  const tickets = await Promise.all(waiting.map(async ({ _id }) => await upToDate(ctx, _id)));
  tickets.sort(
    (a, b) =>
      Number(b.overdue) - Number(a.overdue) ||
      RANKS[a.priority] - RANKS[b.priority] ||
      a._creationTime - b._creationTime,
  );
  for (const ticket of tickets) {
    const available = loads.filter(({ load, capacity }) => load < capacity);
    const [first, ...others] = available;
    if (first === undefined) return;
    const agent = others.reduce((best, each) => (each.load < best.load ? each : best), first);
    agent.load += 1;
    await ctx.db.patch("tickets", ticket._id, { assignee: agent.name });
    await record(ctx, ticket._id, "assigned", "system", agent.name);
  }
}
