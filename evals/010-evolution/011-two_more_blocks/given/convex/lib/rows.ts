import { ConvexError } from "convex/values";
import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";
import type { Content } from "./content";

export function fail(code: "NOT_FOUND" | "WRONG_KIND") {
  return new ConvexError({ code });
}

export function contentOf(row: Doc<"blocks">): Content {
  const { _id, _creationTime, documentId, position, ...content } = row;
  return content;
}

export async function blockRow(ctx: QueryCtx, blockId: Id<"blocks">): Promise<Doc<"blocks">> {
  const row = await ctx.db.get("blocks", blockId);
  if (row === null) throw fail("NOT_FOUND");
  return row;
}

export async function rowsOf(ctx: QueryCtx, documentId: Id<"documents">): Promise<Doc<"blocks">[]> {
  return await ctx.db
    .query("blocks")
    .withIndex("by_document", (q) => q.eq("documentId", documentId))
    .collect();
}

/** The position behind a row, or before all others. */
export function positionAfter(rows: Doc<"blocks">[], afterId: Id<"blocks"> | null): number {
  const index = afterId === null ? -1 : rows.findIndex((row) => row._id === afterId);
  if (afterId !== null && index === -1) throw fail("NOT_FOUND");
  const before = rows[index]?.position;
  const behind = rows[index + 1]?.position;
  if (before === undefined) return behind === undefined ? 0 : behind - 1;
  return behind === undefined ? before + 1 : (before + behind) / 2;
}
