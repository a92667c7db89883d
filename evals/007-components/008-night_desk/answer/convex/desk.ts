import { createThread, listUIMessages, saveMessage } from "@convex-dev/agent";
import { ConvexError, v } from "convex/values";
import { components, internal } from "./_generated/api";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { desk } from "./agent";

/** So many threads, and so many messages of a thread, are shown. */
const MOST = 100;
/** That is 50 questions, each with 4 requests and what tools returned. */
const MOST_STORED = 450;

export const open = mutation({
  args: { title: v.string() },
  handler: async (ctx, { title }): Promise<string> => {
    const userId = await guest(ctx);
    return await createThread(ctx, components.agent, { userId, title });
  },
});

export const threads = query({
  args: {},
  handler: async (ctx) => {
    const userId = await guest(ctx);
    const { page } = await ctx.runQuery(
      components.agent.threads.listThreadsByUserId,
      {
        userId,
        order: "desc",
        paginationOpts: { cursor: null, numItems: MOST },
      },
    );
    return page.map(({ _id, title }) => ({ threadId: _id, title }));
  },
});

export const ask = mutation({
  args: { threadId: v.string(), text: v.string() },
  handler: async (ctx, { threadId, text }): Promise<string> => {
    const userId = await ownerOf(ctx, threadId);
    const { messageId } = await saveMessage(ctx, components.agent, {
      threadId,
      userId,
      prompt: text,
    });
    await ctx.scheduler.runAfter(0, internal.agent.answer, {
      threadId,
      promptMessageId: messageId,
    });
    return messageId;
  },
});

export const conversation = query({
  args: { threadId: v.string() },
  handler: async (ctx, { threadId }) => {
    await ownerOf(ctx, threadId);
    const { page } = await listUIMessages(ctx, components.agent, {
      threadId,
      paginationOpts: { cursor: null, numItems: MOST_STORED },
    });
    return page.slice(-MOST).map(({ role, text, status, parts }) => ({
      role,
      text,
      status,
      tools: parts
        .filter(({ type }) => type.startsWith("tool-"))
        .map(({ type }) => type.slice("tool-".length)),
    }));
  },
});

export const close = mutation({
  args: { threadId: v.string() },
  handler: async (ctx, { threadId }): Promise<null> => {
    await ownerOf(ctx, threadId);
    await desk.deleteThreadAsync(ctx, { threadId });
    return null;
  },
});

export const usage = query({
  args: {},
  handler: async (ctx) => {
    const userId = await guest(ctx);
    const rows = await ctx.db
      .query("usage")
      .withIndex("by_guest", (q) => q.eq("guest", userId))
      .collect();
    return {
      requests: rows.length,
      input: rows.reduce((sum, row) => sum + row.input, 0),
      output: rows.reduce((sum, row) => sum + row.output, 0),
    };
  },
});

async function guest(ctx: QueryCtx | MutationCtx): Promise<string> {
  const identity = await ctx.auth.getUserIdentity();
  if (identity === null) {
    throw new ConvexError({ code: "SIGNED_OUT" });
  }
  return identity.subject;
}

async function ownerOf(
  ctx: QueryCtx | MutationCtx,
  threadId: string,
): Promise<string> {
  const userId = await guest(ctx);
  const thread = await ctx.runQuery(components.agent.threads.getThread, {
    threadId,
  });
  if (thread?.userId !== userId) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
  return userId;
}
