import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import { change, type Change, type Content, content, current, currentChange, edit } from "./lib/content";
import { canConvert, convert as converted } from "./lib/convert";
import { blockRow, contentOf, fail, inside, parentOf, place, positionAfter, rowsOf } from "./lib/rows";

const target = v.union(
  v.literal("heading"),
  v.literal("paragraph"),
  v.literal("todo"),
  v.literal("list"),
  v.literal("toggle"),
);

/** At the end of the document or of a toggle, or behind another block; `null` is the beginning. */
export const add = mutation({
  args: {
    documentId: v.id("documents"),
    content,
    afterId: v.optional(v.nullable(v.id("blocks"))),
    parentId: v.optional(v.id("blocks")),
  },
  returns: v.id("blocks"),
  handler: async (ctx, { documentId, content, afterId, parentId }) => {
    if ((await ctx.db.get("documents", documentId)) === null) throw fail("NOT_FOUND");
    const rows = await rowsOf(ctx, documentId);
    const { position, parent } = place(rows, content.kind === "toggle", afterId, parentId);
    return await ctx.db.insert("blocks", { ...current(content), ...placed(documentId, position, parent) });
  },
});

function placed(documentId: Id<"documents">, position: number, parent: Id<"blocks"> | null) {
  return { documentId, position, ...(parent !== null && { parentId: parent }) };
}

/** The kind of a block cannot be changed. */
export const update = mutation({
  args: { blockId: v.id("blocks"), change },
  returns: v.null(),
  handler: async (ctx, { blockId, change }) => {
    const row = await blockRow(ctx, blockId);
    if (row.kind !== change.kind) throw fail("WRONG_KIND");
    await ctx.db.replace("blocks", blockId, withContent(row, edited(contentOf(row), currentChange(change))));
    return null;
  },
});

function edited(content: Content, change: Change): Content {
  return edit(content, change);
}

function withContent(row: Doc<"blocks">, content: Content) {
  return { ...content, ...placed(row.documentId, row.position, parentOf(row)) };
}

/** Behind another block of the document; `null` is the beginning. Behind itself, a block stays where it is. */
export const move = mutation({
  args: { blockId: v.id("blocks"), afterId: v.nullable(v.id("blocks")), parentId: v.optional(v.id("blocks")) },
  returns: v.null(),
  handler: async (ctx, { blockId, afterId, parentId }) => {
    const row = await blockRow(ctx, blockId);
    if (afterId === blockId) return null;
    if (parentId === blockId) throw fail("WRONG_PARENT");
    const others = (await rowsOf(ctx, row.documentId)).filter((other) => other._id !== blockId);
    const { position, parent } = place(others, row.kind === "toggle", afterId, parentId);
    await ctx.db.patch("blocks", blockId, { position, parentId: parent ?? undefined });
    return null;
  },
});

export const remove = mutation({
  args: { blockId: v.id("blocks") },
  returns: v.null(),
  handler: async (ctx, { blockId }) => {
    const { documentId } = await blockRow(ctx, blockId);
    const rows = await rowsOf(ctx, documentId);
    for (const { _id } of inside(rows, blockId)) await ctx.db.delete("blocks", _id);
    await ctx.db.delete("blocks", blockId);
    return null;
  },
});

/** What comes of it is where the block was. */
export const convert = mutation({
  args: { blockId: v.id("blocks"), to: target },
  returns: v.array(v.id("blocks")),
  handler: async (ctx, { blockId, to }) => {
    const row = await blockRow(ctx, blockId);
    const result = attempt(contentOf(row), to);
    if (result === null) throw fail("NOT_POSSIBLE");
    if (to === "toggle" && parentOf(row) !== null) throw fail("WRONG_PARENT");
    const [first, ...others] = Array.isArray(result) ? result : [result];
    if (first === undefined) {
      await ctx.db.delete("blocks", blockId);
      return [];
    }
    await ctx.db.replace("blocks", blockId, withContent(row, first));
    const parent = parentOf(row);
    let rows = await rowsOf(ctx, row.documentId);
    const ids = [blockId];
    let last = blockId;
    for (const { _id } of inside(rows, blockId)) {
      const position = positionAfter(inside(rows, parent), last);
      await ctx.db.patch("blocks", _id, { position, parentId: undefined });
      rows = await rowsOf(ctx, row.documentId);
      last = _id;
    }
    for (const other of others) {
      const position = positionAfter(inside(rows, parent), last);
      last = await ctx.db.insert("blocks", { ...other, ...placed(row.documentId, position, parent) });
      rows = await rowsOf(ctx, row.documentId);
      ids.push(last);
    }
    return ids;
  },
});

function attempt(content: Content, to: "heading" | "paragraph" | "todo" | "list" | "toggle") {
  switch (to) {
    case "heading":
      return canConvert(content, to) ? converted(content, to) : null;
    case "paragraph":
      return canConvert(content, to) ? converted(content, to) : null;
    case "todo":
      return canConvert(content, to) ? converted(content, to) : null;
    case "list":
      return canConvert(content, to) ? converted(content, to) : null;
    case "toggle":
      return canConvert(content, to) ? converted(content, to) : null;
  }
}
