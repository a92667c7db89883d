import type { Id } from "./_generated/dataModel";
import type { MutationCtx } from "./_generated/server";

async function nextNumber(ctx: MutationCtx, user: string) {
  const counter = await ctx.db
    .query("counters")
    .withIndex("by_user", (q) => q.eq("user", user))
    .unique();
  const number = (counter?.number ?? 0) + 1;
  if (counter === null) await ctx.db.insert("counters", { user, number });
  else await ctx.db.patch("counters", counter._id, { number });
  return number;
}

/** The note has changed for these users: the next pulls of their devices must mention it. */
export async function announce(ctx: MutationCtx, noteId: string, users: string[]) {
  for (const user of new Set(users)) {
    const number = await nextNumber(ctx, user);
    const row = await ctx.db
      .query("feed")
      .withIndex("by_note_and_user", (q) => q.eq("noteId", noteId).eq("user", user))
      .unique();
    if (row === null) await ctx.db.insert("feed", { user, noteId, number });
    else await ctx.db.patch("feed", row._id, { number });
  }
}

/** All notes of the notebook have appeared or vanished for the user. */
export async function announceNotebook(ctx: MutationCtx, notebookId: Id<"notebooks">, user: string) {
  const notes = await ctx.db
    .query("notes")
    .withIndex("by_notebook", (q) => q.eq("notebook.value", notebookId))
    .collect();
  for (const { noteId } of notes) await announce(ctx, noteId, [user]);
}

export async function removeFromFeeds(ctx: MutationCtx, noteId: string) {
  const rows = await ctx.db
    .query("feed")
    .withIndex("by_note_and_user", (q) => q.eq("noteId", noteId))
    .collect();
  for (const { _id } of rows) await ctx.db.delete("feed", _id);
}
