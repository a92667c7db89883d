import { paginationOptsValidator, paginationResultValidator } from "convex/server";
import { v } from "convex/values";
import { memberMutation, memberQuery, type MemberQueryCtx } from "./lib/functions";
import schema from "./schema";

const note = schema.doc("notes");
const fields = schema.tables.notes.validator;

async function titleOf(ctx: MemberQueryCtx, id: typeof note.type._id): Promise<string | null> {
  return (await ctx.db.get("notes", id))?.title ?? null;
}

export const get = memberQuery({
  args: { id: v.id("notes") },
  returns: v.nullable(note),
  handler: async (ctx, { id }) => await ctx.db.get("notes", id),
});

export const getById = memberQuery({
  args: { id: v.id("notes") },
  returns: v.nullable(note),
  handler: async (ctx, { id }) => await ctx.db.get(id),
});

export const title = memberQuery({
  args: { id: v.id("notes") },
  returns: v.nullable(v.string()),
  handler: titleIn,
});

async function titleIn(ctx: MemberQueryCtx, { id }: { id: typeof note.type._id }) {
  return await titleOf(ctx, id);
}

export const all = memberQuery({
  args: {},
  returns: v.array(note),
  handler: async (ctx) => await ctx.db.query("notes").collect(),
});

export const scanned = memberQuery({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => (await ctx.db.query("notes").fullTableScan().order("desc").collect()).map((each) => each.title),
});

export const top = memberQuery({
  args: { count: v.number(), order: v.optional(v.union(v.literal("asc"), v.literal("desc"))) },
  returns: v.array(v.string()),
  handler: async (ctx, { count, order }) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_rank", (q) => q.gte("rank", 0))
      .order(order ?? "asc")
      .take(count);
    return notes.map((each) => each.title);
  },
});

export const first = memberQuery({
  args: { atLeast: v.number() },
  returns: v.nullable(v.string()),
  handler: async (ctx, { atLeast }) => {
    const found = await ctx.db
      .query("notes")
      .withIndex("by_rank", (q) => q.gte("rank", atLeast))
      .first();
    return found?.title ?? null;
  },
});

export const only = memberQuery({
  args: { rank: v.number() },
  returns: v.nullable(v.string()),
  handler: async (ctx, { rank }) => {
    const found = await ctx.db
      .query("notes")
      .withIndex("by_rank", (q) => q.eq("rank", rank))
      .unique();
    return found?.title ?? null;
  },
});

export const filtered = memberQuery({
  args: { ownerId: v.id("users"), title: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { ownerId, title }) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_owner", (q) => q.eq("ownerId", ownerId))
      .filter((q) => q.neq(q.field("title"), title))
      .filter((q) => q.gt(q.field("rank"), 0))
      .collect();
    return notes.map((each) => each.title);
  },
});

export const iterated = memberQuery({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx) => {
    const titles: string[] = [];
    for await (const each of ctx.db.query("notes").withIndex("by_rank").order("desc")) titles.push(each.title);
    return titles;
  },
});

export const found = memberQuery({
  args: { text: v.string(), ownerId: v.optional(v.id("users")) },
  returns: v.array(v.string()),
  handler: async (ctx, { text, ownerId }) => {
    const notes = await ctx.db
      .query("notes")
      .withSearchIndex("search_text", (q) =>
        ownerId === undefined ? q.search("text", text) : q.search("text", text).eq("ownerId", ownerId),
      )
      .take(10);
    return notes.map((each) => each.title);
  },
});

export const page = memberQuery({
  args: { paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(note),
  handler: async (ctx, { paginationOpts }) => await ctx.db.query("notes").withIndex("by_rank").paginate(paginationOpts),
});

export const add = memberMutation({
  args: { fields },
  returns: v.id("notes"),
  handler: async (ctx, args) => await ctx.db.insert("notes", args.fields),
});

/** Changes a note, with or without naming the table, and returns its title, as the viewer sees it afterwards. */
export const change = memberMutation({
  args: { id: v.id("notes"), changes: fields.partial(), leaveTeam: v.boolean(), named: v.boolean() },
  returns: v.nullable(v.string()),
  handler: async (ctx, { id, changes, leaveTeam, named }) => {
    const patch = leaveTeam ? { ...changes, teamId: undefined } : changes;
    if (named) await ctx.db.patch("notes", id, patch);
    else await ctx.db.patch(id, patch);
    return await titleOf(ctx, id);
  },
});

export const replace = memberMutation({
  args: { id: v.id("notes"), fields, named: v.boolean() },
  returns: v.null(),
  handler: async (ctx, args) => {
    if (args.named) await ctx.db.replace("notes", args.id, args.fields);
    else await ctx.db.replace(args.id, args.fields);
    return null;
  },
});

export const remove = memberMutation({
  args: { id: v.id("notes"), named: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { id, named }) => {
    if (named) await ctx.db.delete("notes", id);
    else await ctx.db.delete(id);
    return null;
  },
});

/** Takes all notes that the viewer sees out of their teams, one by one. */
export const leaveTeams = memberMutation({
  args: {},
  returns: v.number(),
  handler: async (ctx) => {
    const notes = await ctx.db
      .query("notes")
      .withIndex("by_owner", (q) => q.eq("ownerId", ctx.viewer._id))
      .collect();
    for (const each of notes) await ctx.db.patch("notes", each._id, { teamId: undefined });
    return notes.length;
  },
});
