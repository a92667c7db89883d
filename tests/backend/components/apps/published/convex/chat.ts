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

export const searchMessages = action({
  args: { threadId: v.string(), text: v.string() },
  handler: async (ctx, { threadId, text }): Promise<string[]> => {
    const found = await ctx.runAction(components.agent.messages.searchMessages, {
      threadId,
      text,
      textSearch: true,
      searchAllMessagesForUserId: "ada",
      limit: 10,
    });
    return found.map((message) => message.text ?? "");
  },
});
