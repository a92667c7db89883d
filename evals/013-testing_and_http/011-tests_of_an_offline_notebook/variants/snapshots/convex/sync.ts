import { v } from "convex/values";
import type { Infer } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { DAY, ring } from "./alarms";
import { caller, level, machineOf, oops } from "./common";

const HOUR = DAY / 24;
const noteId = v.string();
const notebookId = v.id("notebooks");
const base = v.number();
const at = v.number();

const step = v.union(
  v.object({ kind: v.literal("create"), noteId, notebookId, title: v.string(), body: v.string(), at }),
  v.object({
    kind: v.literal("edit"),
    noteId,
    field: v.union(v.literal("title"), v.literal("body")),
    value: v.string(),
    base,
    at,
  }),
  v.object({ kind: v.literal("move"), noteId, notebookId, base, at }),
  v.object({ kind: v.literal("delete"), noteId, base, at }),
  v.object({ kind: v.literal("restore"), noteId }),
);

type Machine = { person: string; machine: string };
type Field = "title" | "body" | "book";

async function textOf(ctx: QueryCtx, publicId: string) {
  return await ctx.db
    .query("texts")
    .withIndex("by_public_id", (q) => q.eq("publicId", publicId))
    .first();
}

async function trashOf(ctx: QueryCtx, text: Id<"texts">) {
  return await ctx.db
    .query("trash")
    .withIndex("by_text", (q) => q.eq("text", text))
    .first();
}

async function lastChange(ctx: QueryCtx, text: Id<"texts">, field: Field) {
  const change = await ctx.db
    .query("changes")
    .withIndex("by_text", (q) => q.eq("text", text).eq("field", field))
    .order("desc")
    .first();
  return change ?? oops("CORRUPT");
}

async function foreignChange(ctx: QueryCtx, text: Id<"texts">, field: Field, known: number, by: Machine) {
  const change = await lastChange(ctx, text, field);
  const isOwn = change.person === by.person && change.machine === by.machine;
  return isOwn || change.revision <= known ? null : change;
}

async function write(
  ctx: MutationCtx,
  text: { publicId: string; book: Id<"notebooks">; title: string; body: string },
  by: Machine,
  time: number,
) {
  const id = await ctx.db.insert("texts", { ...text, revision: 1 });
  for (const field of ["book", "title", "body"] as const) {
    await ctx.db.insert("changes", { text: id, field, time, ...by, revision: 1 });
  }
}

async function takeFromTrash(ctx: MutationCtx, thrown: Doc<"trash">) {
  await ctx.db.delete("trash", thrown._id);
}

async function carryOut(ctx: MutationCtx, by: Machine, todo: Infer<typeof step>): Promise<string> {
  if (todo.kind === "create") {
    if ((await level(ctx, todo.notebookId, by.person)) < 1) return "forbidden";
    if ((await textOf(ctx, todo.noteId)) !== null) return "taken";
    const { noteId: publicId, notebookId: book, title, body } = todo;
    await write(ctx, { publicId, book, title, body }, by, Math.min(Date.now(), todo.at));
    return "done";
  }
  const text = await textOf(ctx, todo.noteId);
  if (text === null) return "unknown";
  const own = await level(ctx, text.book, by.person);
  if (own < 1) return own < 0 ? "unknown" : "forbidden";
  if (todo.kind === "move" && (await level(ctx, todo.notebookId, by.person)) < 1) return "forbidden";
  const thrown = await trashOf(ctx, text._id);
  const revision = text.revision + 1;
  if (todo.kind === "restore") {
    if (thrown === null) return "unchanged";
    await takeFromTrash(ctx, thrown);
    await ctx.db.patch("texts", text._id, { revision });
    return "done";
  }
  const time = Math.min(Date.now(), todo.at);
  if (todo.kind === "delete") {
    if (thrown !== null) return "unchanged";
    for (const field of ["title", "body", "book"] as const) {
      const change = await foreignChange(ctx, text._id, field, todo.base, by);
      if (change !== null && change.time > time + HOUR) return "lost";
    }
    await ctx.db.patch("texts", text._id, { revision });
    const trash = await ctx.db.insert("trash", { text: text._id, time });
    await ring(ctx, Date.now() + 10 * DAY, { trash });
    return "done";
  }
  if (thrown !== null) {
    if (time <= thrown.time + HOUR) return "deleted";
    await takeFromTrash(ctx, thrown);
    await ctx.db.patch("texts", text._id, { revision });
  }
  const field = todo.kind === "move" ? "book" : todo.field;
  const rival = await foreignChange(ctx, text._id, field, todo.base, by);
  const isLost =
    rival !== null && (rival.time > time || (rival.time === time && rival.machine > by.machine));
  if (rival !== null && todo.kind === "edit" && field === "body" && text.body !== todo.value) {
    const loser = isLost ? { ...by, time } : { person: rival.person, machine: rival.machine, time: rival.time };
    const { time: lostAt, ...from } = loser;
    const publicId = `${String(Math.random())}-${text.publicId}`;
    const title = `${text.title} (${from.machine})`;
    await write(ctx, { publicId, book: text.book, title, body: isLost ? todo.value : text.body }, from, lostAt);
  }
  if (isLost) return "lost";
  const value = todo.kind === "move" ? { book: todo.notebookId } : { [todo.field]: todo.value };
  await ctx.db.patch("texts", text._id, { ...value, revision });
  const old = await lastChange(ctx, text._id, field);
  await ctx.db.patch("changes", old._id, { time, ...by, revision });
  return "done";
}

export const push = mutation({
  args: { device: v.string(), from: v.number(), operations: v.array(step) },
  handler: async (ctx, { device: label, from, operations }) => {
    const person = await caller(ctx);
    const machine = await machineOf(ctx, person, label);
    if (!Number.isSafeInteger(from) || from <= 0 || operations.length >= 21) oops("INVALID");
    let { last } = machine;
    if (last < from - 1) oops("GAP");
    const results: string[] = [];
    let number = from;
    for (const todo of operations) {
      if (number === last + 1) {
        results.push(await carryOut(ctx, { person, machine: label }, todo));
        last = number;
      } else {
        results.push("repeated");
      }
      number += 1;
    }
    await ctx.db.patch("machines", machine._id, { last, alive: Date.now() });
    return { results, done: last };
  },
});

/** All notes that somebody sees now. */
async function visible(ctx: QueryCtx, person: string) {
  const found = new Map<string, Doc<"texts">>();
  const grants = ctx.db.query("grants").withIndex("by_person", (q) => q.eq("person", person));
  for await (const { book } of grants) {
    const texts = ctx.db.query("texts").withIndex("by_book", (q) => q.eq("book", book));
    for await (const text of texts) {
      if ((await trashOf(ctx, text._id)) === null) found.set(text.publicId, text);
    }
  }
  return found;
}

export const pull = mutation({
  args: { device: v.string(), cursor: v.union(v.string(), v.null()), limit: v.number() },
  handler: async (ctx, { device: label, cursor, limit }) => {
    const person = await caller(ctx);
    const machine = await machineOf(ctx, person, label);
    if (!(limit >= 1 && limit <= 50) || Math.floor(limit) !== limit) oops("INVALID");
    const now = Date.now();
    const snapshotId = cursor === null ? null : ctx.db.normalizeId("snapshots", cursor);
    const snapshot = snapshotId === null ? { has: [], time: now } : await ctx.db.get("snapshots", snapshotId);
    if (snapshot === null || snapshot.time + 10 * DAY <= now) oops("RESET");
    const has = new Map(snapshot.has.map((each) => [each.publicId, each]));
    const sees = await visible(ctx, person);
    // First what is gone, then what is there, by ID.
    const gone = [...has.keys()].filter((publicId) => !sees.has(publicId)).sort();
    const there = [...sees.keys()].sort().filter((publicId) => {
      const [old, text] = [has.get(publicId), sees.get(publicId)];
      return old?.text !== text?._id || old?.revision !== text?.revision;
    });
    const page = [...gone, ...there].slice(0, limit);
    const changes = page.map((publicId) => {
      const text = sees.get(publicId);
      if (text === undefined) {
        has.delete(publicId);
        return { noteId: publicId, removed: true as const };
      }
      const { _id, book, title, body, revision } = text;
      has.set(publicId, { publicId, text: _id, revision });
      return { removed: false as const, noteId: publicId, notebookId: book, version: revision, title, body };
    });
    const more = gone.length + there.length > limit;
    const time = more ? snapshot.time : now;
    const next: string = await ctx.db.insert("snapshots", { has: [...has.values()], time });
    await ctx.db.patch("machines", machine._id, { alive: now });
    return { changes, cursor: next, more };
  },
});
