import { ConvexError } from "convex/values";
import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import { type Content, current } from "./content";

export function fail(code: "NOT_FOUND" | "WRONG_KIND" | "WRONG_PARENT" | "NOT_POSSIBLE") {
  return new ConvexError({ code });
}

export function contentOf(row: Doc<"blocks">): Content {
  const { _id, _creationTime, documentId, position, parentId, ...content } = row;
  return current(content);
}

export async function blockRow(ctx: QueryCtx, blockId: Id<"blocks">): Promise<Doc<"blocks">> {
  const row = await ctx.db.get("blocks", blockId);
  if (row === null) throw fail("NOT_FOUND");
  return row;
}

/** In no order across toggles: see `inside`. */
export async function rowsOf(ctx: QueryCtx, documentId: Id<"documents">): Promise<Doc<"blocks">[]> {
  return await ctx.db
    .query("blocks")
    .withIndex("by_document", (q) => q.eq("documentId", documentId))
    .collect();
}

export type Parent = Id<"blocks"> | null;

export function parentOf(row: Doc<"blocks">): Parent {
  return row.parentId ?? null;
}

/** The blocks in a toggle or, for `null`, those in none. */
export function inside(rows: Doc<"blocks">[], parent: Parent): Doc<"blocks">[] {
  return rows.filter((row) => parentOf(row) === parent);
}

/** In the order of the document. */
export function flat(rows: Doc<"blocks">[]): Doc<"blocks">[] {
  return inside(rows, null).flatMap((row) => [row, ...inside(rows, row._id)]);
}

/** The position behind a row, or before all others. */
export function positionAfter(rows: Doc<"blocks">[], afterId: Id<"blocks"> | null): number {
  const index = afterId === null ? -1 : rows.findIndex((row) => row._id === afterId);
  const before = rows[index]?.position;
  const behind = rows[index + 1]?.position;
  if (before === undefined) return behind === undefined ? 0 : behind - 1;
  return behind === undefined ? before + 1 : (before + behind) / 2;
}

/** Where a block gets to that is put behind another one. */
export function place(
  rows: Doc<"blocks">[],
  isToggle: boolean,
  afterId: Id<"blocks"> | null | undefined,
  parentId: Id<"blocks"> | undefined,
): { position: number; parent: Parent } {
  const parentRow = rows.find((row) => row._id === parentId);
  const after = rows.find((row) => row._id === afterId);
  if (parentId !== undefined && parentRow === undefined) throw fail("NOT_FOUND");
  if (typeof afterId === "string" && after === undefined) throw fail("NOT_FOUND");
  const parent = after === undefined ? (parentId ?? null) : parentOf(after);
  if (parentRow !== undefined && (parentRow.kind !== "toggle" || parent !== parentRow._id)) throw fail("WRONG_PARENT");
  if (isToggle && parent !== null) throw fail("WRONG_PARENT");
  const siblings = inside(rows, parent);
  const last = siblings.at(-1)?._id ?? null;
  return { position: positionAfter(siblings, afterId === undefined ? last : afterId), parent };
}
