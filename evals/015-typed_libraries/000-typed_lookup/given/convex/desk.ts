import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { lookup } from "./lib/lookup";
import schema from "./schema";

const order = v.optional(v.union(v.literal("asc"), v.literal("desc")));
const limit = v.optional(v.number());

export const person = query({
  args: { email: v.string() },
  returns: v.nullable(schema.doc("people")),
  handler: async (ctx, { email }) => await lookup(ctx.db, "people", "by_email", { email }, { expect: "maybe" }),
});

export const personById = query({
  args: { id: v.id("people") },
  returns: schema.doc("people"),
  handler: async (ctx, { id }) => await lookup(ctx.db, "people", "by_id", { _id: id }, { expect: "one" }),
});

/** The people with this nickname; without the argument, those who have none. */
export const nicknamed = query({
  args: { nickname: v.optional(v.string()) },
  returns: v.array(schema.doc("people")),
  handler: async (ctx, { nickname }) => await lookup(ctx.db, "people", "by_nickname", { nickname }),
});

export const byNickname = query({
  args: { order, limit },
  returns: v.array(schema.doc("people")),
  handler: async (ctx, options) => await lookup(ctx.db, "people", "by_nickname", {}, options),
});

export const agentsIn = query({
  args: { country: v.string(), city: v.optional(v.string()) },
  returns: v.array(schema.doc("people")),
  handler: async (ctx, { country, city }) =>
    city === undefined
      ? await lookup(ctx.db, "people", "by_role_and_place", { "address.country": country, role: "agent" })
      : await lookup(ctx.db, "people", "by_role_and_place", {
          "address.city": city,
          "address.country": country,
          role: "agent",
        }),
});

export const teamsLedBy = query({
  args: { leadId: v.nullable(v.id("people")) },
  returns: v.array(v.string()),
  handler: async (ctx, { leadId }) => {
    const teams = await lookup(ctx.db, "teams", "by_lead", { leadId });
    return teams.map((team) => team.name);
  },
});

export const teamOfSize = query({
  args: { size: v.int64() },
  returns: v.nullable(v.string()),
  handler: async (ctx, { size }) =>
    (await lookup(ctx.db, "teams", "by_size", { size }, { expect: "maybe" }))?.name ?? null,
});

export const tickets = query({
  args: { teamId: v.id("teams"), closed: v.boolean(), order, limit },
  returns: v.array(schema.doc("tickets")),
  handler: async (ctx, { teamId, closed, ...options }) =>
    await lookup(ctx.db, "tickets", "by_team", { closed, teamId }, options),
});

export const ticket = query({
  args: { teamId: v.id("teams"), closed: v.boolean(), priority: v.number(), _creationTime: v.number() },
  returns: schema.doc("tickets"),
  handler: async (ctx, values) => await lookup(ctx.db, "tickets", "by_team", values, { expect: "one" }),
});

export const closeAll = mutation({
  args: { personId: v.id("people") },
  returns: v.number(),
  handler: async (ctx, { personId }) => {
    const found = await lookup(ctx.db, "tickets", "by_person", { personId });
    for (const each of found) await ctx.db.patch("tickets", each._id, { closed: true });
    return found.length;
  },
});

export const imports = query({
  args: {},
  returns: v.object({ rows: v.number(), notes: v.array(v.string()) }),
  handler: async (ctx) => {
    const found = await lookup(ctx.db, "events", "by_kind", { kind: "imported" });
    return { rows: found.reduce((sum, each) => sum + each.rows, 0), notes: found.map((each) => each.note) };
  },
});

export const history = query({
  args: { ticketId: v.id("tickets"), kind: v.optional(v.union(v.literal("opened"), v.literal("assigned"))) },
  returns: v.array(v.string()),
  handler: async (ctx, { ticketId, kind }) => {
    const found =
      kind === undefined
        ? await lookup(ctx.db, "events", "by_ticket", { ticketId })
        : await lookup(ctx.db, "events", "by_ticket", { kind, ticketId });
    return found.map((event) => (event.kind === "opened" ? `from ${event.source}` : (event.note ?? "assigned")));
  },
});

/** Everything that belongs to no ticket. */
export const unrelated = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => {
    const found = await lookup(ctx.db, "events", "by_ticket", { ticketId: undefined });
    return found.map((event) => `${event.kind} by ${event.source}`);
  },
});

export const drawers = query({
  args: { amount: v.number() },
  returns: v.array(v.number()),
  handler: async (ctx, { amount }) => {
    const found = await lookup(ctx.db, "payments", "by_method", { amount, "method.type": "cash" });
    return found.map((payment) => payment.drawer);
  },
});
