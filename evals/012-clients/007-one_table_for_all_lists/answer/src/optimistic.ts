import type { OptimisticLocalStore } from "convex/browser";
import type { PaginatedQueryReference } from "convex/react";
import type { FunctionReference, PaginationOptions, PaginationResult } from "convex/server";
import { convexToJson, type Value } from "convex/values";

type Row = Record<string, unknown>;
type Page = PaginationResult<Row>;
type Args = Record<string, unknown> & { paginationOpts: PaginationOptions & { id?: number } };
type Pages = FunctionReference<"query", "public", Args, Page>;
type Loaded = { args: Args; value: Page };

export interface Change {
  isRow: (row: Row) => boolean;
  change: (row: Row) => Row | null;
  includes: (row: Row, args: unknown) => boolean;
  compare: (a: Row, b: Row, args: unknown) => number;
}

/** Changes a row in all lists of this query that are on the page, as the mutation will. */
export function applyChange(store: OptimisticLocalStore, reference: PaginatedQueryReference, change: Change): void {
  const query = reference as unknown as Pages;
  const loaded = store.getAllQueries(query).flatMap(({ args, value }) => (value === undefined ? [] : [{ args, value }]));
  const before = loaded.flatMap(({ value }) => value.page).find(change.isRow);
  if (before === undefined) return;
  const after = change.change(before);
  for (const name of new Set(loaded.map(listOf))) {
    const pages = loaded.filter((page) => listOf(page) === name);
    const { paginationOpts: _, ...args } = (pages[0] as Loaded).args;
    const changed = new Map(pages.map((page) => [page, page.value.page.filter((row) => !change.isRow(row))]));
    if (after !== null && change.includes(after, args)) {
      insert(inOrder(pages), changed, after, (row) => change.compare(after, row, args));
    }
    for (const [{ args, value }, page] of changed) {
      const isSame = page.length === value.page.length && page.every((row, index) => row === value.page[index]);
      if (!isSame) store.setQuery(query, args, { ...value, page });
    }
  }
}

/** What the pages of one table have in common. */
function listOf({ args: { paginationOpts, ...args } }: Loaded): string {
  return JSON.stringify([paginationOpts.id, convexToJson(args as Record<string, Value>)]);
}

function inOrder(pages: Loaded[]): Loaded[] {
  const ordered: Loaded[] = [];
  let cursor: string | null = null;
  for (;;) {
    const next = pages.find((page) => page.args.paginationOpts.cursor === cursor && !ordered.includes(page));
    if (next === undefined) return ordered;
    ordered.push(next);
    cursor = next.value.continueCursor;
  }
}

function insert(pages: Loaded[], changed: Map<Loaded, Row[]>, row: Row, compare: (row: Row) => number): void {
  for (const page of pages) {
    const rows = changed.get(page) ?? [];
    const index = rows.findIndex((each) => compare(each) < 0);
    if (index >= 0) return void rows.splice(index, 0, row);
  }
  const last = pages.at(-1);
  const isLoaded = last?.value.isDone || last?.value.page.some((each) => compare(each) <= 0);
  if (last !== undefined && isLoaded) changed.get(last)?.push(row);
}
