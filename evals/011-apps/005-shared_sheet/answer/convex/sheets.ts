import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { moved, nameOf, type Position } from "./formulas";
import {
  type Axis,
  cellsOf,
  checkedPosition,
  fail,
  type Grid,
  gridOf,
  MAXIMUM,
  recalculate,
  settle,
  writeAxis,
} from "./grid";
import { axis, editorOrViewer } from "./schema";

type Role = "owner" | "editor" | "viewer";
const ofSheet = { user: v.string(), sheet: v.id("sheets") };

async function shareOf(ctx: QueryCtx, sheet: Id<"sheets">, user: string) {
  return await ctx.db
    .query("shares")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet).eq("user", user))
    .unique();
}

async function check(ctx: QueryCtx, sheet: Id<"sheets">, user: string, roles: Role[]): Promise<void> {
  const { owner } = (await ctx.db.get("sheets", sheet)) ?? { owner: null };
  const role = owner === user ? "owner" : (await shareOf(ctx, sheet, user))?.role;
  if (role === undefined || !roles.includes(role)) throw fail("FORBIDDEN");
}

const checkEditor = async (ctx: QueryCtx, { sheet, user }: { sheet: Id<"sheets">; user: string }) =>
  await check(ctx, sheet, user, ["owner", "editor"]);
const checkViewer = async (ctx: QueryCtx, { sheet, user }: { sheet: Id<"sheets">; user: string }) =>
  await check(ctx, sheet, user, ["owner", "editor", "viewer"]);

async function runOf(ctx: QueryCtx, sheet: Id<"sheets">, user: string) {
  return await ctx.db
    .query("runs")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet).eq("user", user))
    .unique();
}

/** A new edit begins a new run of its user, so that what was undone before is out of reach. */
async function addEdit(
  ctx: MutationCtx,
  { sheet, user }: { sheet: Id<"sheets">; user: string },
  edit: Pick<Doc<"edits">, "kind" | "axis" | "lines">,
) {
  const former = await runOf(ctx, sheet, user);
  const run = (former?.run ?? 0) + 1;
  if (former === null) await ctx.db.insert("runs", { sheet, user, run });
  else await ctx.db.patch("runs", former._id, { run });
  const latest = await ctx.db
    .query("edits")
    .withIndex("by_sheet", (q) => q.eq("sheet", sheet))
    .order("desc")
    .first();
  const order = (latest?.order ?? 0) + 1;
  return { id: await ctx.db.insert("edits", { sheet, user, order, undone: 0, run: 0, ...edit }), order };
}

/** Makes one edit that sets these cells; the inputs are as if they had been entered now. */
async function setCells(
  ctx: MutationCtx,
  by: { sheet: Id<"sheets">; user: string },
  grid: Grid,
  inputs: Map<string, { at: Position; input: string }>,
): Promise<void> {
  const edit = await addEdit(ctx, by, { kind: "set" });
  for (const { at, input } of inputs.values()) {
    const { row, column } = grid.cellAt(at);
    await ctx.db.insert("writes", {
      sheet: by.sheet,
      row,
      column,
      edit: edit.id,
      order: edit.order,
      inForce: true,
      by: by.user,
      parts: grid.bind(input),
    });
    await settle(ctx, by.sheet, row, column);
  }
  await recalculate(ctx, by.sheet);
}

/** Puts an edit into force, or out of it. */
async function enforce(ctx: MutationCtx, edit: Doc<"edits">, inForce: boolean): Promise<void> {
  if (edit.kind === "set") {
    const writes = await ctx.db
      .query("writes")
      .withIndex("by_edit", (q) => q.eq("edit", edit._id))
      .collect();
    for (const { _id, row, column } of writes) {
      await ctx.db.patch("writes", _id, { inForce });
      await settle(ctx, edit.sheet, row, column);
    }
  } else if (edit.axis !== undefined) {
    const concerned = new Set(edit.lines);
    const { axes } = await gridOf(ctx, edit.sheet);
    const lines = axes[edit.axis].lines.map((line) => {
      if (!concerned.has(line.line)) return line;
      if (edit.kind === "insert") return { ...line, exists: inForce };
      return { ...line, removals: line.removals + (inForce ? 1 : -1) };
    });
    await writeAxis(ctx, axes[edit.axis], edit.axis, lines);
  }
  await recalculate(ctx, edit.sheet);
}

function isCount(number: number, most = Infinity): boolean {
  return Number.isInteger(number) && number >= 1 && number <= most;
}

export const create = mutation({
  args: { user: v.string(), rows: v.number(), columns: v.number() },
  returns: v.id("sheets"),
  handler: async (ctx, { user, rows, columns }) => {
    if (!isCount(rows, MAXIMUM.row) || !isCount(columns, MAXIMUM.column)) throw fail("INVALID");
    const sheet = await ctx.db.insert("sheets", { owner: user });
    const sizes: [Axis, number][] = [
      ["row", rows],
      ["column", columns],
    ];
    for (const [axis, length] of sizes) {
      const lines = Array.from({ length }, (_, line) => ({ line, exists: true, removals: 0 }));
      await ctx.db.insert("axes", { sheet, axis, lines });
    }
    return sheet;
  },
});

export const share = mutation({
  args: { ...ofSheet, other: v.string(), role: v.nullable(editorOrViewer) },
  returns: v.null(),
  handler: async (ctx, { user, sheet, other, role }) => {
    await check(ctx, sheet, user, ["owner"]);
    if (other === user) return null;
    const former = await shareOf(ctx, sheet, other);
    if (former !== null && role !== null) await ctx.db.patch("shares", former._id, { role });
    else if (former !== null) await ctx.db.delete("shares", former._id);
    else if (role !== null) await ctx.db.insert("shares", { sheet, user: other, role });
    return null;
  },
});

export const set = mutation({
  args: { ...ofSheet, cells: v.array(v.object({ cell: v.string(), input: v.string() })) },
  returns: v.null(),
  handler: async (ctx, args) => {
    await checkEditor(ctx, args);
    const inputs = new Map(args.cells.map(({ cell, input }) => [cell, { at: checkedPosition(cell), input }]));
    await setCells(ctx, args, await gridOf(ctx, args.sheet), inputs);
    return null;
  },
});

export const copy = mutation({
  args: { ...ofSheet, from: v.string(), to: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await checkEditor(ctx, args);
    const [, first, last] = /^([A-Z][1-9]\d*):([A-Z][1-9]\d*)$/.exec(args.from) ?? [];
    if (first === undefined || last === undefined) throw fail("INVALID");
    const [start, end, target] = [checkedPosition(first), checkedPosition(last), checkedPosition(args.to)];
    if (start.row > end.row || start.column > end.column) throw fail("INVALID");
    const grid = await gridOf(ctx, args.sheet);
    const [rows, columns] = [target.row - start.row, target.column - start.column];
    if (!grid.isInside(end) || !grid.isInside({ row: end.row + rows, column: end.column + columns })) throw fail("OUTSIDE");
    const present = new Map(
      (await cellsOf(ctx, args.sheet)).flatMap(({ row, column, input }) => {
        const at = grid.find(row, column);
        return at === null ? [] : [[nameOf(at), input]];
      }),
    );
    const inputs = new Map<string, { at: Position; input: string }>();
    for (let row = start.row; row <= end.row; row++) {
      for (let column = start.column; column <= end.column; column++) {
        const at = { row: row + rows, column: column + columns };
        const source = present.get(nameOf({ row, column })) ?? "";
        inputs.set(nameOf(at), { at, input: moved(source, rows, columns, (cell) => grid.isInside(cell)) });
      }
    }
    await setCells(ctx, args, grid, inputs);
    return null;
  },
});

export const insert = mutation({
  args: { ...ofSheet, axis, at: v.number(), count: v.number() },
  returns: v.null(),
  handler: async (ctx, { axis, at, count, ...by }) => {
    await checkEditor(ctx, by);
    if (!isCount(at) || !isCount(count)) throw fail("INVALID");
    const { axes, visible } = await gridOf(ctx, by.sheet);
    if (at > visible[axis].length + 1) throw fail("OUTSIDE");
    if (visible[axis].length + count > MAXIMUM[axis]) throw fail("SIZE");
    const { lines } = axes[axis];
    const added = Array.from({ length: count }, (_, number) => lines.length + number);
    const before = lines.findIndex(({ line }) => line === visible[axis][at - 1]);
    const place = before === -1 ? lines.length : before;
    const inserted = added.map((line) => ({ line, exists: true, removals: 0 }));
    await writeAxis(ctx, axes[axis], axis, lines.toSpliced(place, 0, ...inserted));
    await addEdit(ctx, by, { kind: "insert", axis, lines: added });
    await recalculate(ctx, by.sheet);
    return null;
  },
});

export const remove = mutation({
  args: { ...ofSheet, axis, at: v.number(), count: v.number() },
  returns: v.null(),
  handler: async (ctx, { axis, at, count, ...by }) => {
    await checkEditor(ctx, by);
    if (!isCount(at) || !isCount(count)) throw fail("INVALID");
    const { axes, visible } = await gridOf(ctx, by.sheet);
    if (at - 1 + count > visible[axis].length) throw fail("OUTSIDE");
    const removed = visible[axis].slice(at - 1, at - 1 + count);
    const lines = axes[axis].lines.map((line) => {
      return removed.includes(line.line) ? { ...line, removals: line.removals + 1 } : line;
    });
    await writeAxis(ctx, axes[axis], axis, lines);
    await addEdit(ctx, by, { kind: "remove", axis, lines: removed });
    await recalculate(ctx, by.sheet);
    return null;
  },
});

export const undo = mutation({
  args: ofSheet,
  returns: v.null(),
  handler: async (ctx, args) => {
    await checkEditor(ctx, args);
    const { sheet, user } = args;
    const edit = await ctx.db
      .query("edits")
      .withIndex("by_user", (q) => q.eq("sheet", sheet).eq("user", user).eq("undone", 0))
      .order("desc")
      .first();
    if (edit === null) throw fail("NOTHING");
    const run = (await runOf(ctx, sheet, user))?.run ?? 0;
    const former = await lastUndone(ctx, sheet, user, run);
    await ctx.db.patch("edits", edit._id, { run, undone: (former?.undone ?? 0) + 1 });
    await enforce(ctx, edit, false);
    return null;
  },
});

async function lastUndone(ctx: QueryCtx, sheet: Id<"sheets">, user: string, run: number) {
  return await ctx.db
    .query("edits")
    .withIndex("by_run", (q) => q.eq("sheet", sheet).eq("user", user).eq("run", run).gt("undone", 0))
    .order("desc")
    .first();
}

export const redo = mutation({
  args: ofSheet,
  returns: v.null(),
  handler: async (ctx, args) => {
    await checkEditor(ctx, args);
    const run = (await runOf(ctx, args.sheet, args.user))?.run ?? 0;
    const edit = await lastUndone(ctx, args.sheet, args.user, run);
    if (edit === null) throw fail("NOTHING");
    await ctx.db.patch("edits", edit._id, { run: 0, undone: 0 });
    await enforce(ctx, edit, true);
    return null;
  },
});

const shown = v.object({
  cell: v.string(),
  input: v.string(),
  value: v.union(v.number(), v.string(), v.null()),
  by: v.nullable(v.string()),
});

export const view = query({
  args: ofSheet,
  returns: v.object({ rows: v.number(), columns: v.number(), cells: v.array(shown) }),
  handler: async (ctx, args) => {
    await checkViewer(ctx, args);
    const grid = await gridOf(ctx, args.sheet);
    const found = (await cellsOf(ctx, args.sheet)).flatMap((cell) => {
      const at = grid.find(cell.row, cell.column);
      return at === null || cell.input === "" ? [] : [{ at, cell }];
    });
    const cells = found
      .sort((a, b) => a.at.row - b.at.row || a.at.column - b.at.column)
      .map(({ at, cell: { input, value, by } }) => ({ cell: nameOf(at), input, value, by }));
    return { rows: grid.visible.row.length, columns: grid.visible.column.length, cells };
  },
});

export const cell = query({
  args: { ...ofSheet, cell: v.string() },
  returns: shown,
  handler: async (ctx, args) => {
    await checkViewer(ctx, args);
    const at = checkedPosition(args.cell);
    const { row, column } = (await gridOf(ctx, args.sheet)).cellAt(at);
    const found = await ctx.db
      .query("cells")
      .withIndex("by_sheet", (q) => q.eq("sheet", args.sheet).eq("row", row).eq("column", column))
      .unique();
    if (found === null || found.input === "") return { cell: args.cell, input: "", value: null, by: null };
    return { cell: args.cell, input: found.input, value: found.value, by: found.by };
  },
});

export const history = query({
  args: { ...ofSheet, paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    await checkViewer(ctx, args);
    const result = await ctx.db
      .query("edits")
      .withIndex("by_sheet", (q) => q.eq("sheet", args.sheet))
      .order("desc")
      .paginate(args.paginationOpts);
    const page = result.page.map(({ user, kind, undone }) => ({ user, kind, inForce: undone === 0 }));
    return { ...result, page };
  },
});

export const sheets = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const own = await ctx.db
      .query("sheets")
      .withIndex("by_owner", (q) => q.eq("owner", user))
      .collect();
    const shares = await ctx.db
      .query("shares")
      .withIndex("by_user", (q) => q.eq("user", user))
      .collect();
    const shared = await Promise.all(
      shares.map(async ({ sheet, role }) => ({ document: await ctx.db.get("sheets", sheet), role })),
    );
    return [...own.map((document) => ({ document, role: "owner" as const })), ...shared]
      .flatMap(({ document, role }) => (document === null ? [] : [{ document, role }]))
      .sort((a, b) => a.document._creationTime - b.document._creationTime)
      .map(({ document: { _id, owner }, role }) => ({ sheet: _id, owner, role }));
  },
});
