import { ConvexError } from "convex/values";

export function fail(code: string, details?: any): any {
  return new ConvexError(details ? { code, ...details } : { code });
}

export async function must(ctx: any, table: any, id: any): Promise<any> {
  const row = await ctx.db.get(table, id);
  if (!row) throw fail("NOT_FOUND", { table });
  return row;
}

export async function insertAll(ctx: any, table: any, rows: any[]): Promise<any[]> {
  const ids = [];
  for (const row of rows) ids.push(await ctx.db.insert(table, row));
  return ids;
}

export function parse(text: any): any {
  return typeof text === "string" ? JSON.parse(text) : text;
}

export function groupBy(rows: any[], key: any): any {
  const groups: any = {};
  for (const row of rows) (groups[key(row)] ??= []).push(row);
  return groups;
}

export function sortBy(rows: any[], key: any): any[] {
  return [...rows].sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
}

export function sum(rows: any[], value: any): any {
  return rows.reduce((total, row) => total + value(row), 0);
}

export function isCount(n: any, least: any): any {
  return Number.isInteger(n) && n >= least;
}
