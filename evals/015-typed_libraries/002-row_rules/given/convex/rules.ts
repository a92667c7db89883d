import type { Doc } from "./_generated/dataModel";
import { defineRules } from "./lib/rules";

export const rules = defineRules<Doc<"users">>()({
  users: {
    read: () => true,
    update: ({ viewer }, before, after) =>
      before._id === viewer._id && after.admin === before.admin && after.subject === before.subject,
  },
  teams: {
    read: ({ viewer }, team) => viewer.admin || team.memberIds.includes(viewer._id),
    update: ({ viewer }, before, after) =>
      after.name === before.name && before.memberIds.every((id) => id === viewer._id || after.memberIds.includes(id)),
  },
  notes: {
    read: async ({ db, viewer }, note) => {
      if (note.ownerId === viewer._id) return true;
      if (note.teamId === undefined) return false;
      const team = await db.get("teams", note.teamId);
      return team?.memberIds.includes(viewer._id) ?? false;
    },
    insert: ({ viewer }, note) => note.ownerId === viewer._id && note.title !== "",
    update: ({ viewer }, before, after) =>
      after._id === before._id &&
      after._creationTime === before._creationTime &&
      after.ownerId === before.ownerId &&
      (before.ownerId === viewer._id || (after.teamId === before.teamId && after.title === before.title)),
    delete: ({ viewer }, note) => Promise.resolve(note.ownerId === viewer._id),
  },
  activity: {
    read: ({ viewer }, entry) => entry.authorId === viewer._id || entry.kind === "vote",
    insert: async ({ db, viewer }, entry) => {
      if (entry.authorId !== viewer._id) return false;
      if (entry.kind === "vote") return Math.abs(entry.value) <= 1;
      return (await db.get("notes", entry.noteId)) !== null && entry.text !== "";
    },
    delete: () => true,
  },
  announcements: "all",
  audit: "none",
});
