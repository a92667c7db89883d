import { type Infer, v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { inner, oldContent, section } from "./lib/content";
import { contentOf, flat, inside, rowsOf } from "./lib/rows";
import { markdown as toMarkdown, old, words } from "./lib/text";

export const create = mutation({
  args: { title: v.string() },
  returns: v.id("documents"),
  handler: async (ctx, { title }) => await ctx.db.insert("documents", { title }),
});

export const show = query({
  args: { documentId: v.id("documents") },
  returns: v.nullable(
    v.object({ title: v.string(), blocks: v.array(v.object({ blockId: v.id("blocks"), content: oldContent })) }),
  ),
  handler: async (ctx, { documentId }) => {
    const document = await ctx.db.get("documents", documentId);
    if (document === null) return null;
    const rows = flat(await rowsOf(ctx, documentId));
    return { title: document.title, blocks: rows.map((row) => ({ blockId: row._id, content: old(contentOf(row)) })) };
  },
});

const leaf = v.object({ blockId: v.id("blocks"), content: inner });
const branch = v.object({ blockId: v.id("blocks"), content: section, children: v.array(leaf) });

export const read = query({
  args: { documentId: v.id("documents") },
  returns: v.nullable(v.object({ title: v.string(), blocks: v.array(v.union(leaf, branch)) })),
  handler: async (ctx, { documentId }) => {
    const document = await ctx.db.get("documents", documentId);
    if (document === null) return null;
    const rows = await rowsOf(ctx, documentId);
    const blocks = inside(rows, null).map((row): Leaf | Branch => {
      const content = contentOf(row);
      if (content.kind !== "toggle") return { blockId: row._id, content };
      return { blockId: row._id, content, children: inside(rows, row._id).flatMap(leafOf) };
    });
    return { title: document.title, blocks };
  },
});

type Leaf = Infer<typeof leaf>;
type Branch = Infer<typeof branch>;

function leafOf(row: Doc<"blocks">): Leaf[] {
  const content = contentOf(row);
  return content.kind === "toggle" ? [] : [{ blockId: row._id, content }];
}

export const markdown = query({
  args: { documentId: v.id("documents") },
  returns: v.string(),
  handler: async (ctx, { documentId }) => {
    const rows = flat(await rowsOf(ctx, documentId));
    return rows.map((row) => toMarkdown(contentOf(row))).join("\n\n");
  },
});

export const stats = query({
  args: { documentId: v.id("documents") },
  returns: v.object({
    words: v.number(),
    kinds: v.object({ heading: v.number(), paragraph: v.number(), todo: v.number(), image: v.number(), list: v.number(), toggle: v.number() }),
  }),
  handler: async (ctx, { documentId }) => {
    const kinds = { heading: 0, paragraph: 0, todo: 0, image: 0, list: 0, toggle: 0 };
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
    const rows = flat(await rowsOf(ctx, documentId));
    return rows.flatMap((row) => (row.kind === "heading" ? [{ blockId: row._id, level: row.level, text: row.text }] : []));
  },
});
