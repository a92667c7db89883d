import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { RAG } from "@convex-dev/rag";
import { v, type Infer } from "convex/values";
import { components } from "./_generated/api";
import type { audience, language } from "./schema";

/** What the component keeps with a manual; an interface would not be a Convex value. */
export type Metadata = {
  title: string;
  language: Infer<typeof language>;
  audience: Infer<typeof audience>;
};

export const embeddingModel = createOpenAICompatible({
  name: "house",
  baseURL: process.env.EMBEDDINGS_URL ?? "",
  apiKey: process.env.EMBEDDINGS_KEY,
}).embeddingModel("words-1");

export const rag = new RAG<{ readers: string }, Metadata>(components.rag, {
  textEmbeddingModel: embeddingModel,
  embeddingDimension: 128,
  filterNames: ["readers"],
});

/** Both conditions have to hold, so they are one value. */
export function readers(of: Pick<Metadata, "language" | "audience">) {
  return {
    name: "readers" as const,
    value: `${of.language} ${of.audience}`,
  };
}

export const section = v.object({
  number: v.number(),
  heading: v.string(),
  text: v.string(),
});

/** The component does not know what is in the metadata of a chunk. */
export function sectionOf(
  number: number,
  { text, metadata }: { text: string; metadata?: Record<string, unknown> },
): Infer<typeof section> {
  return { number, heading: String(metadata?.heading), text };
}
