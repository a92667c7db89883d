import { embedMany } from "ai";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, internalMutation } from "./_generated/server";
import { embeddingModel, rag, readers } from "./rag";
import { manual } from "./schema";
import { versionIn } from "./versions";

export const index = internalAction({
  args: { version: v.id("versions"), manual },
  handler: async (ctx, { version, manual }): Promise<null> => {
    const embeddings = await embed(manual.sections.map(({ text }) => text));
    if (embeddings === null) {
      await ctx.runMutation(internal.indexing.fail, { version });
    } else {
      await ctx.runMutation(internal.indexing.store, {
        version,
        manual,
        embeddings,
      });
    }
    return null;
  },
});

export const store = internalMutation({
  args: {
    version: v.id("versions"),
    manual,
    embeddings: v.array(v.array(v.number())),
  },
  handler: async (ctx, { version, manual, embeddings }) => {
    const { shop, slug, importance, sections, ...metadata } = manual;
    const stored = await ctx.db.get("versions", version);
    if (stored?.state !== "indexing") {
      return;
    }
    const before = await versionIn(ctx, manual, "current");
    if (before !== null) {
      await ctx.db.patch("versions", before._id, { state: "replaced" });
    }
    const { entryId, replacedEntry } = await rag.add(ctx, {
      namespace: shop,
      key: slug,
      importance,
      metadata,
      filterValues: [readers(manual)],
      chunks: sections.map(({ heading, text }, index) => ({
        text,
        metadata: { heading },
        keywords: `${heading}\n${text}`,
        embedding: embeddings[index],
      })),
    });
    if (replacedEntry !== null) {
      await rag.deleteAsync(ctx, { entryId: replacedEntry.entryId });
    }
    await ctx.db.patch("versions", version, {
      state: "current",
      entry: entryId,
    });
  },
});

export const fail = internalMutation({
  args: { version: v.id("versions") },
  handler: async (ctx, { version }) => {
    const stored = await ctx.db.get("versions", version);
    if (stored?.state === "indexing") {
      await ctx.db.patch("versions", version, { state: "failed" });
    }
  },
});

async function embed(values: string[]): Promise<number[][] | null> {
  try {
    const { embeddings } = await embedMany({ model: embeddingModel, values });
    return embeddings;
  } catch (error) {
    console.error(error);
    return null;
  }
}
