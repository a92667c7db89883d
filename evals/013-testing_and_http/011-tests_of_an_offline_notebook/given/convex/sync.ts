import { v } from "convex/values";
import { mutation } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, requireUser, roleIn } from "./access";
import { recordSync, requireDevice } from "./devices";
import { apply, findNote, operation, result } from "./operations";
import type { Result } from "./operations";

const DAY = 24 * 60 * 60 * 1000;
const CURSORS_LAST = 10 * DAY;
const MOST_OPERATIONS = 20;
const MOST_CHANGES = 50;

export const push = mutation({
  args: { device: v.string(), from: v.number(), operations: v.array(operation) },
  returns: v.object({ done: v.number(), results: v.array(result) }),
  handler: async (ctx, { device: name, from, operations }) => {
    const user = await requireUser(ctx);
    const device = await requireDevice(ctx, user, name);
    if (!Number.isInteger(from) || from < 1 || operations.length > MOST_OPERATIONS) throw failure("INVALID");
    if (from > device.done + 1) throw failure("GAP");
    const author = { user, device: name };
    const results: Result[] = [];
    for (const [index, change] of operations.entries()) {
      const isRepeated = from + index <= device.done;
      results.push(isRepeated ? "repeated" : await apply(ctx, author, change));
    }
    const done = Math.max(device.done, from + operations.length - 1);
    await recordSync(ctx, device, done);
    return { done, results };
  },
});

/** Up to where in the feed a device has everything, and since when that may be out of date. */
type Cursor = { number: number; time: number };

function parse(cursor: string): Cursor {
  const [number, time] = cursor.split("@").map(Number);
  return { number, time };
}

function format({ number, time }: Cursor) {
  return `${String(number)}@${String(time)}`;
}

/** The note as the user sees it. */
async function viewOf(ctx: QueryCtx, user: string, noteId: string) {
  const note = await findNote(ctx, noteId);
  if (note === null || note.deletion !== null || (await roleIn(ctx, note.notebook.value, user)) === null) {
    return { noteId, removed: true as const };
  }
  const { title, body, notebook, version } = note;
  const content = { notebookId: notebook.value, title: title.value, body: body.value, version };
  return { noteId, removed: false as const, ...content };
}

export const pull = mutation({
  args: { device: v.string(), cursor: v.union(v.string(), v.null()), limit: v.number() },
  returns: v.object({
    changes: v.array(
      v.union(
        v.object({
          noteId: v.string(),
          removed: v.literal(false),
          notebookId: v.id("notebooks"),
          title: v.string(),
          body: v.string(),
          version: v.number(),
        }),
        v.object({ noteId: v.string(), removed: v.literal(true) }),
      ),
    ),
    cursor: v.string(),
    more: v.boolean(),
  }),
  handler: async (ctx, { device: name, cursor, limit }) => {
    const user = await requireUser(ctx);
    const device = await requireDevice(ctx, user, name);
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_CHANGES) throw failure("INVALID");
    const now = Date.now();
    const start = cursor === null ? { number: 0, time: now } : parse(cursor);
    if (now - start.time >= CURSORS_LAST) throw failure("RESET");
    const rows = await ctx.db
      .query("feed")
      .withIndex("by_user_and_number", (q) => q.eq("user", user).gt("number", start.number))
      .take(limit + 1);
    const more = rows.length > limit;
    const page = rows.slice(0, limit);
    const changes = await Promise.all(page.map(async ({ noteId }) => await viewOf(ctx, user, noteId)));
    const number = page.at(-1)?.number ?? start.number;
    await recordSync(ctx, device, device.done);
    return { changes, cursor: format({ number, time: more ? start.time : now }), more };
  },
});
