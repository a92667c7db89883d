import { createThread, listMessages, saveMessages, searchThreadTitles } from "@convex-dev/agent";
import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { action, mutation, query } from "./_generated/server";

export const start = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }) => await createThread(ctx, components.agent, { userId: "ada", title }),
});

export const say = mutation({
  args: { threadId: v.string(), prompt: v.string(), answer: v.string() },
  handler: async (ctx, { threadId, prompt, answer }) => {
    const { messages } = await saveMessages(ctx, components.agent, {
      threadId,
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: answer },
      ],
    });
    return messages.map((message) => message._id);
  },
});

export const list = query({
  args: { threadId: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => {
    const found = await listMessages(ctx, components.agent, args);
    return { ...found, page: found.page.map(({ message, order }) => [order, message?.role, message?.content]) };
  },
});

export const search = query({
  args: { query: v.string() },
  handler: async (ctx, { query }) =>
    (await searchThreadTitles(ctx, components.agent, { query, userId: "ada" })).map((thread) => thread.title),
});

/** 128 numbers, the first of them given. */
const embedding = (start: number[]) => [...start, ...Array<number>(128 - start.length).fill(0)];

export const sayWithEmbedding = mutation({
  args: { threadId: v.string(), text: v.string(), start: v.array(v.number()) },
  handler: async (ctx, { threadId, text, start }) => {
    await saveMessages(ctx, components.agent, {
      threadId,
      userId: "ada",
      messages: [{ role: "user", content: text }],
      embeddings: { model: "test", vectors: [embedding(start)] },
    });
  },
});

export const recall = action({
  args: { text: v.optional(v.string()), start: v.optional(v.array(v.number())) },
  handler: async (ctx, { text, start }): Promise<string[]> => {
    const found = await ctx.runAction(components.agent.messages.searchMessages, {
      searchAllMessagesForUserId: "ada",
      text,
      textSearch: text !== undefined,
      embedding: start && embedding(start),
      embeddingModel: start && "test",
      vectorSearch: start !== undefined,
      vectorScoreThreshold: 0.5,
      messageRange: { before: 0, after: 0 },
      limit: 10,
    });
    return found.map((message) => message.text ?? "");
  },
});
