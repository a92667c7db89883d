import { v } from "convex/values";
import type { Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalMutation } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { audienceOf, mayWrite, roleIn } from "./access";
import { beats, fieldsOf, isForeign } from "./conflicts";
import type { Author } from "./conflicts";
import { announce, removeFromFeeds } from "./feed";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const PURGED_AFTER = 10 * DAY;

const noteId = v.string();
const notebookId = v.id("notebooks");
const textField = v.union(v.literal("title"), v.literal("body"));
const based = { noteId, base: v.number(), at: v.number() };

export const operation = v.union(
  v.object({ kind: v.literal("create"), noteId, notebookId, title: v.string(), body: v.string(), at: v.number() }),
  v.object({ kind: v.literal("edit"), field: textField, value: v.string(), ...based }),
  v.object({ kind: v.literal("move"), notebookId, ...based }),
  v.object({ kind: v.literal("delete"), ...based }),
  v.object({ kind: v.literal("restore"), noteId }),
);

export const result = v.union(
  v.literal("done"),
  v.literal("repeated"),
  v.literal("unknown"),
  v.literal("forbidden"),
  v.literal("taken"),
  v.literal("deleted"),
  v.literal("lost"),
  v.literal("unchanged"),
);

type Operation = Infer<typeof operation>;
export type Result = Infer<typeof result>;
type Change<Kind> = Extract<Operation, { kind: Kind }>;

export async function findNote(ctx: QueryCtx, id: string) {
  return await ctx.db
    .query("notes")
    .withIndex("by_note_id", (q) => q.eq("noteId", id))
    .unique();
}

async function insertNote(
  ctx: MutationCtx,
  { noteId, notebookId, title, body }: { noteId: string; notebookId: Id<"notebooks">; title: string; body: string },
  origin: { at: number; user: string; device: string },
) {
  const first = { ...origin, version: 1 };
  await ctx.db.insert("notes", {
    noteId,
    version: 1,
    title: { value: title, ...first },
    body: { value: body, ...first },
    notebook: { value: notebookId, ...first },
    deletion: null,
  });
  await announce(ctx, noteId, await audienceOf(ctx, notebookId));
}

async function create(ctx: MutationCtx, author: Author, change: Change<"create">, at: number): Promise<Result> {
  if (!(await mayWrite(ctx, change.notebookId, author.user))) return "forbidden";
  if ((await findNote(ctx, change.noteId)) !== null) return "taken";
  await insertNote(ctx, change, { at, ...author });
  return "done";
}

/** Changes a note and makes a new version of it. Tells those who see it, and those who saw it before. */
async function update(ctx: MutationCtx, note: Doc<"notes">, changes: Partial<Doc<"notes">>) {
  const before = await audienceOf(ctx, note.notebook.value);
  const after = changes.notebook === undefined ? [] : await audienceOf(ctx, changes.notebook.value);
  await ctx.db.patch("notes", note._id, { ...changes, version: note.version + 1 });
  await announce(ctx, note.noteId, [...before, ...after]);
}

/** Keeps a text that has lost in a new note. */
async function keepCopy(ctx: MutationCtx, note: Doc<"notes">, loser: { value: string; at: number } & Author) {
  const { value: body, at, user, device } = loser;
  const title = `${note.title.value} (${device})`;
  const copy = { noteId: crypto.randomUUID(), notebookId: note.notebook.value, title, body };
  await insertNote(ctx, copy, { at, user, device });
}

async function edit(
  ctx: MutationCtx,
  author: Author,
  note: Doc<"notes">,
  change: Change<"edit" | "move">,
  at: number,
): Promise<Result> {
  if (note.deletion !== null && at <= note.deletion.at + HOUR) return "deleted";
  const field = change.kind === "move" ? note.notebook : note[change.field];
  const inConflict = isForeign(field, author, change.base);
  const wins = !inConflict || beats(at, author, field);
  if (inConflict && change.kind === "edit" && change.field === "body" && change.value !== note.body.value) {
    await keepCopy(ctx, note, wins ? note.body : { value: change.value, at, ...author });
  }
  if (!wins) {
    if (note.deletion !== null) await update(ctx, note, { deletion: null });
    return "lost";
  }
  const origin = { at, ...author, version: note.version + 1 };
  if (change.kind === "move") {
    await update(ctx, note, { notebook: { value: change.notebookId, ...origin }, deletion: null });
  } else {
    await update(ctx, note, { [change.field]: { value: change.value, ...origin }, deletion: null });
  }
  return "done";
}

async function remove(
  ctx: MutationCtx,
  author: Author,
  note: Doc<"notes">,
  change: Change<"delete">,
  at: number,
): Promise<Result> {
  if (note.deletion !== null) return "unchanged";
  const isNewer = fieldsOf(note).some((field) => isForeign(field, author, change.base) && field.at > at + HOUR);
  if (isNewer) return "lost";
  const receivedAt = Date.now();
  await update(ctx, note, { deletion: { at, receivedAt } });
  await ctx.scheduler.runAt(receivedAt + PURGED_AFTER, internal.operations.purge, { note: note._id, receivedAt });
  return "done";
}

async function restore(ctx: MutationCtx, note: Doc<"notes">): Promise<Result> {
  if (note.deletion === null) return "unchanged";
  await update(ctx, note, { deletion: null });
  return "done";
}

export async function apply(ctx: MutationCtx, author: Author, change: Operation): Promise<Result> {
  const at = change.kind === "restore" ? 0 : Math.min(change.at, Date.now());
  if (change.kind === "create") return await create(ctx, author, change, at);
  const note = await findNote(ctx, change.noteId);
  if (note === null || (await roleIn(ctx, note.notebook.value, author.user)) === null) return "unknown";
  if (!(await mayWrite(ctx, note.notebook.value, author.user))) return "forbidden";
  if (change.kind === "move" && !(await mayWrite(ctx, change.notebookId, author.user))) return "forbidden";
  switch (change.kind) {
    case "edit":
    case "move":
      return await edit(ctx, author, note, change, at);
    case "delete":
      return await remove(ctx, author, note, change, at);
    case "restore":
      return await restore(ctx, note);
  }
}

/** The end of a note that was deleted at that time, and not restored since. */
export const purge = internalMutation({
  args: { note: v.id("notes"), receivedAt: v.number() },
  returns: v.null(),
  handler: async (ctx, { note: id, receivedAt }) => {
    const note = await ctx.db.get("notes", id);
    if (note === null || note.deletion?.receivedAt !== receivedAt) return null;
    await ctx.db.delete("notes", id);
    await removeFromFeeds(ctx, note.noteId);
    return null;
  },
});
