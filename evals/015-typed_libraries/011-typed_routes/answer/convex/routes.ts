import type { WithoutSystemFields } from "convex/server";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import type { ActionCtx } from "./_generated/server";
import { createRoutes, urlFor } from "./lib/routes";
import { role } from "./schema";

const open = createRoutes();
const known = open
  .use(({ request }) => {
    const caller = request.headers.get("X-Caller");
    return caller === null ? Response.json({ error: "Who are you?" }, { status: 401 }) : { caller };
  })
  .use(({ context }) => ({ isRoot: context.caller === "root" }));

const member = v.object({ number: v.number(), name: v.string(), role, tags: v.array(v.string()) });
const error = v.object({ error: v.string() });

// Routes are in `internal` themselves, as far as TypeScript can tell, so these say what they return.
async function list(ctx: ActionCtx, team: string): Promise<Doc<"members">[]> {
  return await ctx.runQuery(internal.members.list, { team });
}

async function find(ctx: ActionCtx, team: string, number: number): Promise<Doc<"members"> | null> {
  return await ctx.runQuery(internal.members.get, { team, number });
}

async function add(ctx: ActionCtx, fields: Omit<WithoutSystemFields<Doc<"members">>, "number">): Promise<number | null> {
  return await ctx.runMutation(internal.members.add, fields);
}

async function remove(ctx: ActionCtx, team: string, number: number): Promise<boolean> {
  return await ctx.runMutation(internal.members.remove, { team, number });
}

function shown({ number, name, role, tags }: Doc<"members">) {
  return { number, name, role, tags };
}

export const health = open.route({
  method: "GET",
  path: "/health",
  responses: { 200: v.object({ ok: v.literal(true) }) },
}).handle(() => ({ status: 200, body: { ok: true } }));

export const listMembers = known.route({
  method: "GET",
  path: "/teams/:team/members",
  query: { role: v.optional(role), limit: v.optional(v.number()), tag: v.array(v.string()) },
  responses: { 200: v.array(member) },
}).handle(async ({ ctx, params, query }) => {
  const all = await list(ctx, params.team);
  const found = all.filter(
    (each) =>
      (query.role === undefined || each.role === query.role) && query.tag.every((tag) => each.tags.includes(tag)),
  );
  return { status: 200, body: found.slice(0, query.limit).map(shown) };
});

export const getMember = known.route({
  method: "GET",
  path: "/teams/:team/members/:id(number)",
  responses: { 200: member, 404: error },
}).handle(async ({ ctx, params }) => {
  const found = await find(ctx, params.team, params.id);
  return found === null ? { status: 404, body: { error: "No such member" } } : { status: 200, body: shown(found) };
});

export const addMember = known.route({
  method: "POST",
  path: "/teams/:team/members",
  body: v.object({ name: v.string(), role: v.optional(role), tags: v.array(v.string()) }),
  responses: { 201: v.object({ number: v.number(), url: v.string() }), 409: error },
}).handle(async ({ ctx, params, body, context }) => {
  const { name, tags, role = "member" } = body;
  const number = await add(ctx, { team: params.team, name, tags, role, addedBy: context.caller });
  if (number === null) return { status: 409, body: { error: `${name} is already there` } };
  return { status: 201, body: { number, url: urlFor(getMember, { params: { team: params.team, id: number } }) } };
});

export const removeMember = known.route({
  method: "DELETE",
  path: "/teams/:team/members/:id(number)",
  responses: { 204: v.null(), 403: error, 404: error },
}).handle(async ({ ctx, params, context }) => {
  if (!context.isRoot) return { status: 403, body: { error: "Only root removes members" } };
  return (await remove(ctx, params.team, params.id)) ? { status: 204 } : { status: 404, body: { error: "No such member" } };
});

export const report = known.route({
  method: "GET",
  path: "/teams/:team/:view(count|names)",
  responses: { 200: v.union(v.number(), v.array(v.string())) },
}).handle(async ({ ctx, params }) => {
  const all = await list(ctx, params.team);
  return { status: 200, body: params.view === "count" ? all.length : all.map(({ name }) => name) };
});

export const echo = createRoutes().route({
  method: "PUT",
  path: "/echo/:word/:n(number)",
  query: {
    flag: v.boolean(),
    level: v.optional(v.union(v.literal(1), v.literal("max"), v.boolean())),
    ratios: v.optional(v.array(v.number())),
  },
  body: v.union(
    v.object({ kind: v.literal("list"), items: v.array(v.nullable(v.number())), note: v.optional(v.string()) }),
    v.object({ kind: v.literal("map"), entries: v.record(v.string(), v.object({ on: v.boolean() })) }),
  ),
  responses: { 200: v.object({ params: v.any(), query: v.any(), body: v.any() }) },
}).handle(({ params, query, body }) => ({ status: 200, body: { params, query, body } }));

export const link = createRoutes().route({
  method: "POST",
  path: "/link",
  body: v.object({
    params: v.object({ word: v.string(), n: v.number() }),
    query: v.object({
      flag: v.boolean(),
      level: v.optional(v.union(v.literal(1), v.literal("max"), v.boolean())),
      ratios: v.optional(v.array(v.number())),
    }),
  }),
  responses: { 200: v.object({ url: v.string() }) },
}).handle(async ({ body }) => ({ status: 200, body: { url: urlFor(echo, body) } }));
