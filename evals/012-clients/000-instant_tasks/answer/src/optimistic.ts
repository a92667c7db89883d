import { insertAtPosition, insertAtTop } from "convex/react";
import type { OptimisticLocalStore } from "convex/browser";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

export type Task = Doc<"tasks">;
type Filter = "all" | "open" | "done";

const PENDING = "pending:";

/** Whether the server does not know the task yet. */
export function isPending({ _id }: Task): boolean {
  return _id.startsWith(PENDING);
}

function belongs(task: Task, list: { projectId: Id<"projects">; filter: Filter }): boolean {
  if (task.projectId !== list.projectId) return false;
  return list.filter === "all" || task.done === (list.filter === "done");
}

/** The task as the lists show it by now; `known` is what it was when the user clicked. */
function present(store: OptimisticLocalStore, known: Task): Task {
  const pages = store.getAllQueries(api.tasks.list);
  const found = pages.flatMap(({ value }) => value?.page ?? []).find(({ _id }) => _id === known._id);
  return found ?? known;
}

function countUp(store: OptimisticLocalStore, projectId: Id<"projects">, open: number, done: number): void {
  const counts = store.getQuery(api.tasks.counts, { projectId });
  if (counts !== undefined) {
    store.setQuery(api.tasks.counts, { projectId }, { open: counts.open + open, done: counts.done + done });
  }
  const projects = store.getQuery(api.tasks.projects, {});
  if (projects !== undefined) {
    const changed = projects.map((each) => (each.projectId === projectId ? { ...each, open: each.open + open } : each));
    store.setQuery(api.tasks.projects, {}, changed);
  }
}

function count(store: OptimisticLocalStore, task: Task, change: 1 | -1): void {
  countUp(store, task.projectId, task.done ? 0 : change, task.done ? change : 0);
}

/** Replaces a task in all lists, wherever it belongs now; with null it is gone. */
function replace(store: OptimisticLocalStore, known: Task, change: (task: Task) => Task | null): void {
  const before = present(store, known);
  const after = change(before);
  count(store, before, -1);
  if (after !== null) count(store, after, +1);
  for (const { args, value } of store.getAllQueries(api.tasks.list)) {
    if (value === undefined) continue;
    const page = value.page.flatMap((task) => {
      if (task._id !== before._id) return [task];
      return after !== null && belongs(after, args) ? [after] : [];
    });
    store.setQuery(api.tasks.list, args, { ...value, page });
  }
  for (const filter of ["all", "open", "done"] as const) {
    if (after === null || !belongs(after, { projectId: after.projectId, filter })) continue;
    if (belongs(before, { projectId: after.projectId, filter })) continue;
    insertAtPosition({
      paginatedQuery: api.tasks.list,
      argsToMatch: { projectId: after.projectId, filter },
      sortOrder: "desc",
      sortKeyFromItem: (task) => task._creationTime,
      localQueryStore: store,
      item: after,
    });
  }
}

export function showDone(store: OptimisticLocalStore, task: Task, done: boolean): void {
  replace(store, task, (before) => ({ ...before, done }));
}

export function showMoved(store: OptimisticLocalStore, task: Task, projectId: Id<"projects">): void {
  replace(store, task, (before) => ({ ...before, projectId }));
}

export function showRemoved(store: OptimisticLocalStore, task: Task): void {
  replace(store, task, () => null);
}

/** The counts say how many tasks there are, also those that are not loaded. */
export function showAllDone(store: OptimisticLocalStore, projectId: Id<"projects">): void {
  const open = store.getQuery(api.tasks.counts, { projectId })?.open ?? 0;
  countUp(store, projectId, -open, open);
  for (const { args, value } of store.getAllQueries(api.tasks.list)) {
    if (value === undefined || args.projectId !== projectId) continue;
    const page = value.page.map((task) => ({ ...task, done: true })).filter((task) => belongs(task, args));
    store.setQuery(api.tasks.list, args, { ...value, page });
  }
}

/** A task that is about to be added. Make it once for each: the update is run again whenever something arrives. */
export function pendingTask(projectId: Id<"projects">, title: string): Task {
  const _id = `${PENDING}${crypto.randomUUID()}` as Id<"tasks">;
  return { _id, _creationTime: Date.now(), projectId, title, done: false, locked: false };
}

export function showAdded(store: OptimisticLocalStore, item: Task): void {
  count(store, item, +1);
  for (const filter of ["all", "open"] as const) {
    const argsToMatch = { projectId: item.projectId, filter };
    insertAtTop({ paginatedQuery: api.tasks.list, argsToMatch, localQueryStore: store, item });
  }
}
