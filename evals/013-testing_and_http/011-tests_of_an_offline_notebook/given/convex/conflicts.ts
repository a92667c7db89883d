import type { Doc } from "./_generated/dataModel";

/** The device that sends an operation. */
export type Author = { user: string; device: string };

type Origin = { at: number; user: string; device: string; version: number };

/** Whether the last change of a field was made by another device, and is not known to an operation. */
export function isForeign(field: Origin, author: Author, base: number) {
  const isOwn = field.user === author.user && field.device === author.device;
  return !isOwn && field.version > base;
}

/** Whether a change at this time wins against the last change of a field. */
export function beats(at: number, author: Author, field: Origin) {
  if (at !== field.at) return at > field.at;
  return author.device >= field.device;
}

export function fieldsOf(note: Doc<"notes">) {
  return [note.title, note.body, note.notebook];
}
