import { contentHashFromArrayBuffer } from "@convex-dev/rag";
import {
  paginationOptsValidator,
  paginationResultValidator,
  type PaginationResult,
} from "convex/server";
import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, mutation, query } from "./_generated/server";
import { rag, readers, section, sectionOf } from "./rag";
import { audience, language, manual, state } from "./schema";
import { versionIn } from "./versions";

const LANGUAGES = ["en", "de"] as const;

const listed = manual.omit("shop", "sections");

export const publish = mutation({
  args: manual,
  returns: v.id("versions"),
  handler: async (ctx, manual): Promise<Id<"versions">> => {
    const { shop, slug } = manual;
    const hash = await hashOf(manual);
    const indexing = await versionIn(ctx, manual, "indexing");
    const current = await versionIn(ctx, manual, "current");
    if (indexing !== null) {
      await ctx.db.patch("versions", indexing._id, { state: "replaced" });
    } else if (current?.hash === hash) {
      return current._id;
    }
    const version = await ctx.db.insert("versions", {
      shop,
      slug,
      hash,
      state: "indexing",
    });
    await ctx.scheduler.runAfter(0, internal.indexing.index, {
      version,
      manual,
    });
    return version;
  },
});

export const withdraw = mutation({
  args: { shop: v.string(), slug: v.string() },
  returns: v.boolean(),
  handler: async (ctx, manual) => {
    const versions = [
      await versionIn(ctx, manual, "indexing"),
      await versionIn(ctx, manual, "current"),
    ].filter((version) => version !== null);
    for (const { _id, entry } of versions) {
      await ctx.db.patch("versions", _id, { state: "withdrawn" });
      if (entry !== undefined) {
        await rag.deleteAsync(ctx, { entryId: entry });
      }
    }
    return versions.length > 0;
  },
});

export const stateOf = query({
  args: { version: v.id("versions") },
  returns: state,
  handler: async (ctx, { version }) =>
    (await ctx.db.get("versions", version))!.state,
});

export const list = query({
  args: { shop: v.string(), paginationOpts: paginationOptsValidator },
  returns: paginationResultValidator(listed),
  handler: async (
    ctx,
    { shop, paginationOpts },
  ): Promise<PaginationResult<Infer<typeof listed>>> => {
    const namespace = await rag.getNamespace(ctx, { namespace: shop });
    if (namespace === null) {
      return nothing;
    }
    const result = await rag.list(ctx, {
      namespaceId: namespace.namespaceId,
      order: "desc",
      paginationOpts,
    });
    return {
      ...result,
      page: result.page.map(({ key, metadata, importance }) => ({
        slug: key!,
        ...metadata!,
        importance,
      })),
    };
  },
});

export const read = query({
  args: {
    shop: v.string(),
    slug: v.string(),
    paginationOpts: paginationOptsValidator,
  },
  returns: paginationResultValidator(section),
  handler: async (ctx, { paginationOpts, ...manual }) => {
    const current = await versionIn(ctx, manual, "current");
    if (current?.entry === undefined) {
      return nothing;
    }
    const result = await rag.listChunks(ctx, {
      entryId: current.entry,
      paginationOpts,
    });
    return {
      ...result,
      page: result.page.map((chunk) => sectionOf(chunk.order + 1, chunk)),
    };
  },
});

export const search = action({
  args: {
    shop: v.string(),
    reader: audience,
    language: v.optional(language),
    text: v.string(),
    by: v.union(v.literal("meaning"), v.literal("words")),
    limit: v.number(),
    around: v.number(),
    atLeast: v.optional(v.number()),
  },
  handler: async (
    ctx,
    { shop, reader, language, text, by, limit, around, atLeast },
  ) => {
    const languages = language === undefined ? LANGUAGES : [language];
    const audiences =
      reader === "technician"
        ? (["customer", "technician"] as const)
        : [reader];
    const { results, entries } = await rag.search(ctx, {
      namespace: shop,
      query: text,
      searchType: by === "words" ? "text" : "vector",
      filters: languages.flatMap((language) =>
        audiences.map((audience) => readers({ language, audience })),
      ),
      limit,
      chunkContext: { before: around, after: around },
      vectorScoreThreshold: atLeast,
    });
    const manuals = new Map(
      entries.map(({ entryId, key, metadata }) => [
        entryId,
        { slug: key!, ...metadata! },
      ]),
    );
    return results.map(({ entryId, order, startOrder, content, score }) => ({
      ...manuals.get(entryId)!,
      score: by === "words" ? null : score,
      found: order + 1,
      sections: content.map((chunk, index) =>
        sectionOf(startOrder + index + 1, chunk),
      ),
    }));
  },
});

type Manual = Infer<typeof manual>;

const nothing = { page: [], isDone: true, continueCursor: "" };

async function hashOf(manual: Manual): Promise<string> {
  const { title, language, audience, importance, sections } = manual;
  const bytes = new TextEncoder().encode(
    JSON.stringify([
      title,
      language,
      audience,
      importance,
      sections.map(({ heading, text }) => [heading, text]),
    ]),
  );
  return await contentHashFromArrayBuffer(bytes.buffer);
}
