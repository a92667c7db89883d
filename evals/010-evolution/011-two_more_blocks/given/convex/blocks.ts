import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { change, content, edit } from "./lib/content";
import { blockRow, contentOf, fail, positionAfter, rowsOf } from "./lib/rows";

/** At the end of the document, or behind another block; `null` is the beginning. */
export const add = mutation({
  args: { documentId: v.id("documents"), content, afterId: v.optional(v.nullable(v.id("blocks"))) },
  returns: v.id("blocks"),
  handler: async (ctx, { documentId, content, afterId }) => {
    if ((await ctx.db.get("documents", documentId)) === null) throw fail("NOT_FOUND");
    const rows = await rowsOf(ctx, documentId);
    const position = positionAfter(rows, afterId === undefined ? (rows.at(-1)?._id ?? null) : afterId);
    return await ctx.db.insert("blocks", { ...content, documentId, position });
  },
});

/** The kind of a block cannot be changed. */
export const update = mutation({
  args: { blockId: v.id("blocks"), change },
  returns: v.null(),
  handler: async (ctx, { blockId, change }) => {
    const row = await blockRow(ctx, blockId);
    if (row.kind !== change.kind) throw fail("WRONG_KIND");
    const { documentId, position } = row;
    await ctx.db.replace("blocks", blockId, { ...edit(contentOf(row), change), documentId, position });
    return null;
  },
});

/** Behind another block of the document; `null` is the beginning. Behind itself, a block stays where it is. */
export const move = mutation({
  args: { blockId: v.id("blocks"), afterId: v.nullable(v.id("blocks")) },
  returns: v.null(),
  handler: async (ctx, { blockId, afterId }) => {
    const { documentId } = await blockRow(ctx, blockId);
    if (afterId === blockId) return null;
    const rows = await rowsOf(ctx, documentId);
    const others = rows.filter((row) => row._id !== blockId);
    await ctx.db.patch("blocks", blockId, { position: positionAfter(others, afterId) });
    return null;
  },
});

export const remove = mutation({
  args: { blockId: v.id("blocks") },
  returns: v.null(),
  handler: async (ctx, { blockId }) => {
    await blockRow(ctx, blockId);
    await ctx.db.delete("blocks", blockId);
    return null;
  },
});
