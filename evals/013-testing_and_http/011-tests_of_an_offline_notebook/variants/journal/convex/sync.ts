import { v } from "convex/values";
import type { Infer } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import type { MutationCtx } from "./_generated/server";
import { DAYS, book, fail, gadget, me, note, papers, places, what } from "./rules";

const known = { noteId: v.string(), base: v.number(), at: v.number() };
const operation = v.union(
  v.object({
    kind: v.literal("create"),
    noteId: v.string(),
    notebookId: v.id("notebooks"),
    title: v.string(),
    body: v.string(),
    at: v.number(),
  }),
  v.object({
    kind: v.literal("edit"),
    field: v.union(v.literal("title"), v.literal("body")),
    value: v.string(),
    ...known,
  }),
  v.object({ kind: v.literal("move"), notebookId: v.id("notebooks"), ...known }),
  v.object({ kind: v.literal("delete"), ...known }),
  v.object({ kind: v.literal("restore"), noteId: v.string() }),
);
type Operation = Infer<typeof operation>;
type Parts = Doc<"papers">["parts"];
type Part = Parts["body"];

async function write(ctx: MutationCtx, key: string, first: { title: Part; body: Part; notebook: Part }) {
  await ctx.db.insert("papers", { key, count: 1, parts: first, gone: null, goneSince: 0 });
  await note(ctx, key, [first.notebook.text]);
}

async function perform(ctx: MutationCtx, who: string, name: string, todo: Operation): Promise<string> {
  const now = Date.now();
  const when = "at" in todo && todo.at < now ? todo.at : now;
  const by = JSON.stringify([who, name]);
  const writes = async (notebook: string) => ["owner", "writer"].includes(what(await book(ctx, notebook), who));
  const paper = (await papers(ctx)).find(({ key }) => key === todo.noteId);
  if (todo.kind === "create") {
    if (!(await writes(todo.notebookId))) return "forbidden";
    if (paper !== undefined) return "taken";
    const part = (text: string) => ({ text, when, by, name, made: 1 });
    const first = { title: part(todo.title), body: part(todo.body), notebook: part(todo.notebookId) };
    await write(ctx, todo.noteId, first);
    return "done";
  }
  if (paper === undefined || what(await book(ctx, paper.parts.notebook.text), who) === "nobody") return "unknown";
  const { parts, gone, _id, key } = paper;
  const places = [parts.notebook.text];
  if (todo.kind === "move") places.push(todo.notebookId);
  for (const place of places) if (!(await writes(place))) return "forbidden";
  const count = paper.count + 1;
  if (todo.kind === "restore") {
    if (gone === null) return "unchanged";
    await ctx.db.patch("papers", _id, { gone: null, count });
    await note(ctx, key, places);
    return "done";
  }
  const foreign = (part: Part) => part.made > todo.base && part.by !== by;
  if (todo.kind === "delete") {
    if (gone !== null) return "unchanged";
    const latest = Math.max(0, ...Object.values(parts).filter(foreign).map((part) => part.when));
    if (latest - when > DAYS / 24) return "lost";
    await ctx.db.patch("papers", _id, { gone: when, goneSince: now, count });
    await note(ctx, key, places);
    return "done";
  }
  if (gone !== null && when - gone <= DAYS / 24) return "deleted";
  const which = todo.kind === "move" ? "notebook" : todo.field;
  const old = parts[which];
  const neu = { text: todo.kind === "move" ? todo.notebookId : todo.value, when, by, name, made: count };
  const order = when - old.when || (name === old.name ? 1 : name > old.name ? 1 : -1);
  const loses = foreign(old) && order < 0;
  if (which === "body" && foreign(old) && old.text !== neu.text) {
    const loser = { ...(loses ? neu : old), made: 1 };
    const title = { ...loser, text: `${parts.title.text} (${loser.name})` };
    const id = `${key}/${String(await ctx.db.query("papers").collect().then((all) => all.length))}`;
    await write(ctx, id, { title, body: loser, notebook: { ...loser, text: parts.notebook.text } });
  }
  if (!loses || gone !== null) {
    await ctx.db.patch("papers", _id, { parts: loses ? parts : { ...parts, [which]: neu }, gone: null, count });
    await note(ctx, key, loses ? places.slice(0, 1) : places);
  }
  return loses ? "lost" : "done";
}

export const push = mutation({
  args: { device: v.string(), from: v.number(), operations: v.array(operation) },
  handler: async (ctx, { device: name, from, operations }) => {
    const who = await me(ctx);
    const sender = await gadget(ctx, who, name);
    if (from % 1 !== 0 || from <= 0 || operations.length > 20) fail("INVALID");
    if (from - sender.last > 1) fail("GAP");
    const results = operations.slice(0, sender.last + 1 - from).map(() => "repeated");
    for (const todo of operations.slice(results.length)) results.push(await perform(ctx, who, name, todo));
    const done = Math.max(sender.last, from - 1 + operations.length);
    await ctx.db.patch("gadgets", sender._id, { last: done, seen: Date.now() });
    return { done, results };
  },
});

export const pull = mutation({
  args: { device: v.string(), cursor: v.union(v.string(), v.null()), limit: v.number() },
  handler: async (ctx, { device: name, cursor, limit }) => {
    const who = await me(ctx);
    const receiver = await gadget(ctx, who, name);
    if (!Array.from({ length: 50 }, (_, index) => index + 1).includes(limit)) fail("INVALID");
    const now = Date.now();
    const { place, since } = JSON.parse(cursor ?? JSON.stringify({ place: 0, since: now })) as Record<string, number>;
    if (since <= now - 10 * DAYS) fail("RESET");
    const newest = new Map<string, number>();
    for (const entry of await ctx.db.query("journal").collect()) {
      if (entry.place > place && entry.readers.includes(who)) newest.set(entry.key, entry.place);
    }
    const present = await papers(ctx);
    const seen = [];
    for (const [noteId, at] of [...newest].sort(([, one], [, other]) => one - other)) {
      const paper = present.find(({ key }) => key === noteId);
      const notebook = paper === undefined ? null : await book(ctx, paper.parts.notebook.text);
      if (paper === undefined || paper.gone !== null || what(notebook, who) === "nobody") {
        // Who has nothing yet has nothing to remove.
        if (cursor !== null) seen.push({ at, change: { removed: true, noteId } });
      } else {
        const notebookId = paper.parts.notebook.text as Id<"notebooks">;
        const content = { title: paper.parts.title.text, body: paper.parts.body.text, version: paper.count };
        seen.push({ at, change: { noteId, notebookId, ...content, removed: false } });
      }
    }
    const page = seen.slice(0, limit);
    const more = page.length < seen.length;
    const next = { place: more ? (page.at(-1)?.at ?? place) : await places(ctx), since: more ? since : now };
    await ctx.db.patch("gadgets", receiver._id, { seen: now });
    return { changes: page.map(({ change }) => change), cursor: JSON.stringify(next), more };
  },
});
