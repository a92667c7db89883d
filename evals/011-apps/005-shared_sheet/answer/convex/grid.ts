import { ConvexError } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { nameOf, parse, type Position, positionOf, type Value, valuesOf } from "./formulas";

export type Axis = "row" | "column";
export type Code = "FORBIDDEN" | "INVALID" | "OUTSIDE" | "NOTHING" | "SIZE";
type Parts = Doc<"writes">["parts"];
export const MAXIMUM: Record<Axis, number> = { row: 60, column: 26 };

export function fail(code: Code): ConvexError<{ code: Code }> {
  return new ConvexError({ code });
}

export function isVisible({ exists, removals }: { exists: boolean; removals: number }): boolean {
  return exists && removals === 0;
}

/** The visible rows and columns of a sheet, and where everything else is. */
export class Grid {
  readonly visible: Record<Axis, number[]>;
  private readonly place: Record<Axis, Map<number, number>>;
  private readonly position: Record<Axis, Map<number, number>>;

  constructor(readonly axes: Record<Axis, Doc<"axes">>) {
    const each = <T>(make: (axis: Axis) => T) => ({ row: make("row"), column: make("column") });
    this.visible = each((axis) => axes[axis].lines.filter(isVisible).map(({ line }) => line));
    this.place = each((axis) => new Map(axes[axis].lines.map(({ line }, place) => [line, place])));
    this.position = each((axis) => new Map(this.visible[axis].map((line, position) => [line, position])));
  }

  isInside({ row, column }: Position): boolean {
    return row >= 0 && column >= 0 && row < this.visible.row.length && column < this.visible.column.length;
  }

  /** Where a cell is now; null if it is not visible. */
  find(row: number, column: number): Position | null {
    const found = { row: this.position.row.get(row), column: this.position.column.get(column) };
    return found.row === undefined || found.column === undefined ? null : { row: found.row, column: found.column };
  }

  cellAt({ row, column }: Position): { row: number; column: number } {
    const found = { row: this.visible.row[row], column: this.visible.column[column] };
    if (found.row === undefined || found.column === undefined) throw fail("OUTSIDE");
    return { row: found.row, column: found.column };
  }

  /** What was entered, with its cells and ranges bound to what they stand for now. */
  bind(input: string): Parts {
    const parts: Parts = [];
    let end = 0;
    for (const { start, end: next, from, to } of parse(input)?.mentions ?? []) {
      parts.push(input.slice(end, start));
      end = next;
      if (!this.isInside(from) || (to !== null && !this.isInside(to))) parts.push("#REF!");
      else if (to === null) parts.push(this.cellAt(from));
      else {
        const [first, last] = [this.cellAt(from), this.cellAt(to)];
        parts.push({ top: first.row, left: first.column, bottom: last.row, right: last.column });
      }
    }
    return [...parts, input.slice(end)];
  }

  render(parts: Parts): string {
    return parts.map((part) => (typeof part === "string" ? part : this.renderReference(part))).join("");
  }

  private renderReference(part: Exclude<Parts[number], string>): string {
    if ("row" in part) {
      const found = this.find(part.row, part.column);
      return found === null ? "#REF!" : nameOf(found);
    }
    const rows = this.between("row", part.top, part.bottom);
    const columns = this.between("column", part.left, part.right);
    if (rows === null || columns === null) return "#REF!";
    return `${nameOf({ row: rows.first, column: columns.first })}:${nameOf({ row: rows.last, column: columns.last })}`;
  }

  /** The positions of the first and the last visible line from one to another. */
  private between(axis: Axis, from: number, to: number): { first: number; last: number } | null {
    const [start, end] = [this.place[axis].get(from) ?? 0, this.place[axis].get(to) ?? 0];
    const lines = this.axes[axis].lines.slice(start, end + 1).filter(isVisible);
    const [first, last] = [lines.at(0), lines.at(-1)];
    if (first === undefined || last === undefined) return null;
    return { first: this.position[axis].get(first.line) ?? 0, last: this.position[axis].get(last.line) ?? 0 };
  }
}

async function axisOf(ctx: QueryCtx, sheet: Id<"sheets">, axis: Axis): Promise<Doc<"axes">> {
  return await ctx.db
    .query("axes")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet).eq("axis", axis))
    .first()
    .then((found) => {
      if (found === null) throw new Error("A sheet has two axes");
      return found;
    });
}

export async function gridOf(ctx: QueryCtx, sheet: Id<"sheets">): Promise<Grid> {
  return new Grid({ row: await axisOf(ctx, sheet, "row"), column: await axisOf(ctx, sheet, "column") });
}

export async function cellsOf(ctx: QueryCtx, sheet: Id<"sheets">): Promise<Doc<"cells">[]> {
  return await ctx.db
    .query("cells")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet))
    .collect();
}

function stored(value: Value | undefined): number | string | null {
  if (value === undefined || value.kind === "empty") return null;
  return value.kind === "number" ? value.number : value.kind === "text" ? value.text : value.error;
}

/** Brings inputs and values up to date, and writes only what has changed. */
export async function recalculate(ctx: MutationCtx, sheet: Id<"sheets">): Promise<void> {
  const grid = await gridOf(ctx, sheet);
  const visible = (await cellsOf(ctx, sheet)).flatMap((cell) => {
    const at = grid.find(cell.row, cell.column);
    return at === null ? [] : [{ cell, name: nameOf(at), input: grid.render(cell.parts) }];
  });
  const values = valuesOf(new Map(visible.map(({ name, input }) => [name, input])));
  for (const { cell, name, input } of visible) {
    const value = stored(values.get(name));
    if (cell.input !== input || !Object.is(cell.value, value)) await ctx.db.patch("cells", cell._id, { input, value });
  }
}

/** Sets a cell to what the latest edit in force says. */
export async function settle(ctx: MutationCtx, sheet: Id<"sheets">, row: number, column: number): Promise<void> {
  const write = await ctx.db
    .query("writes")
    .withIndex("by_cell", (q) => q.eq("sheet", sheet).eq("row", row).eq("column", column).eq("inForce", true))
    .order("desc")
    .first();
  const cell = await ctx.db
    .query("cells")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet).eq("row", row).eq("column", column))
    .unique();
  const content = { parts: write?.parts ?? [], by: write?.by ?? "" };
  if (cell !== null) await ctx.db.patch("cells", cell._id, content);
  else await ctx.db.insert("cells", { sheet, row, column, ...content, input: "", value: null });
}

export function checkedPosition(name: string): Position {
  if (!/^[A-Z][1-9]\d*$/.test(name)) throw fail("INVALID");
  return positionOf(name);
}

export async function writeAxis(ctx: MutationCtx, { _id }: Doc<"axes">, axis: Axis, lines: Doc<"axes">["lines"]) {
  const size = lines.filter(isVisible).length;
  if (size < 1 || size > MAXIMUM[axis]) throw fail("SIZE");
  await ctx.db.patch("axes", _id, { lines });
}
