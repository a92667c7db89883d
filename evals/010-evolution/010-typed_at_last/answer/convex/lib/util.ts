import { ConvexError, type Value } from "convex/values";
import type { WithoutSystemFields } from "convex/server";
import type { Doc, Id, TableNames } from "../_generated/dataModel";
import type { MutationCtx, QueryCtx } from "../_generated/server";

/** The value for a key; if it is one of several keys, a value that fits each of them. */
export type Fitting<Values, Key extends keyof Values> = Values[Key] &
  ((Key extends unknown ? (value: Values[Key]) => void : never) extends (value: infer All) => void ? All : never);

type Rows = { [Table in OwnTable]: readonly WithoutSystemFields<Doc<Table>>[] };
type OwnTable = Exclude<TableNames, `_${string}`>;
export type Code = "NOT_FOUND" | "INVALID" | "WRONG_PHASE" | "TAKEN" | "OUT_OF_STOCK";

export function fail(code: Code, details: Record<string, Value> = {}): ConvexError<Record<string, Value>> {
  return new ConvexError({ code, ...details });
}

export async function must<Table extends OwnTable>(
  ctx: Pick<QueryCtx, "db">,
  table: Table,
  id: Id<NoInfer<Table>>,
): Promise<Doc<Table>> {
  const row = await ctx.db.get(table, id);
  if (row === null) throw fail("NOT_FOUND", { table });
  return row;
}

export async function insertAll<Table extends OwnTable>(
  ctx: Pick<MutationCtx, "db">,
  table: Table,
  rows: Fitting<Rows, NoInfer<Table>>,
): Promise<Id<Table>[]> {
  const ids: Id<Table>[] = [];
  for (const row of rows) ids.push(await ctx.db.insert(table, row));
  return ids;
}

export function groupBy<Row, const Key extends string | number>(
  rows: readonly Row[],
  key: (row: Row) => Key,
): { [K in Key]?: Row[] } {
  const groups: { [K in Key]?: Row[] } = {};
  for (const row of rows) (groups[key(row)] ??= []).push(row);
  return groups;
}

type Sortable<Row> = {
  [Key in keyof Row]-?: Row[Key] extends string ? Key : Row[Key] extends number ? Key : never;
}[keyof Row];

export function sortBy<Row>(rows: readonly Row[], key: Sortable<Row>): Row[] {
  return [...rows].sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
}

export function sum<Row>(rows: Iterable<Row>, value: (row: Row) => number): number {
  let total = 0;
  for (const row of rows) total += value(row);
  return total;
}

export function isCount(n: number, least: number): boolean {
  return Number.isInteger(n) && n >= least;
}
