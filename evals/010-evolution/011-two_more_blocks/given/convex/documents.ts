import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { content } from "./lib/content";
import { contentOf, rowsOf } from "./lib/rows";
import { markdown as toMarkdown, words } from "./lib/text";

export const create = mutation({
  args: { title: v.string() },
  returns: v.id("documents"),
  handler: async (ctx, { title }) => await ctx.db.insert("documents", { title }),
});

export const show = query({
  args: { documentId: v.id("documents") },
  returns: v.nullable(
    v.object({ title: v.string(), blocks: v.array(v.object({ blockId: v.id("blocks"), content })) }),
  ),
  handler: async (ctx, { documentId }) => {
    const document = await ctx.db.get("documents", documentId);
    if (document === null) return null;
    const rows = await rowsOf(ctx, documentId);
    return { title: document.title, blocks: rows.map((row) => ({ blockId: row._id, content: contentOf(row) })) };
  },
});

export const markdown = query({
  args: { documentId: v.id("documents") },
  returns: v.string(),
  handler: async (ctx, { documentId }) => {
    const rows = await rowsOf(ctx, documentId);
    return rows.map((row) => toMarkdown(contentOf(row))).join("\n\n");
  },
});

export const stats = query({
  args: { documentId: v.id("documents") },
  returns: v.object({
    words: v.number(),
    kinds: v.object({ heading: v.number(), paragraph: v.number(), todo: v.number(), image: v.number() }),
  }),
  handler: async (ctx, { documentId }) => {
    const kinds = { heading: 0, paragraph: 0, todo: 0, image: 0 };
    let total = 0;
    for (const row of await rowsOf(ctx, documentId)) {
      kinds[row.kind] += 1;
      total += words(contentOf(row));
    }
    return { words: total, kinds };
  },
});

export const outline = query({
  args: { documentId: v.id("documents") },
  returns: v.array(v.object({ blockId: v.id("blocks"), level: v.number(), text: v.string() })),
  handler: async (ctx, { documentId }) => {
    const rows = await rowsOf(ctx, documentId);
    return rows.flatMap((row) => (row.kind === "heading" ? [{ blockId: row._id, level: row.level, text: row.text }] : []));
  },
});
