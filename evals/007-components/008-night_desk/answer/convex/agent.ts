import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, createTool, isStepCount } from "@convex-dev/agent";
import { v } from "convex/values";
import { z } from "zod";
import { components, internal } from "./_generated/api";
import {
  internalAction,
  internalMutation,
  internalQuery,
} from "./_generated/server";

const provider = createOpenAICompatible({
  name: "house",
  baseURL: process.env.MODEL_URL ?? "",
  apiKey: process.env.MODEL_KEY,
});

const findBooking = createTool({
  description: "Find the guest's booking of a room",
  inputSchema: z.object({ room: z.number() }),
  execute: async (ctx, { room }): Promise<{ nights: number } | null> =>
    await ctx.runQuery(internal.agent.bookingOf, {
      guest: ctx.userId ?? "",
      room,
    }),
});

const callTaxi = createTool({
  description: "Call a taxi for the guest",
  inputSchema: z.object({ time: z.string() }),
  execute: async (ctx, { time }): Promise<string> => {
    await ctx.runMutation(internal.agent.saveTaxi, {
      guest: ctx.userId ?? "",
      threadId: ctx.threadId ?? "",
      time,
    });
    return "called";
  },
});

export const desk = new Agent(components.agent, {
  name: "desk",
  languageModel: provider.chatModel("night-1"),
  instructions: "You are the night desk of Hotel Convex.",
  tools: { findBooking, callTaxi },
  stopWhen: isStepCount(4),
  callSettings: { maxRetries: 0 },
  contextOptions: { recentMessages: 7, excludeToolMessages: true },
  usageHandler: async (ctx, { userId, usage }) => {
    await ctx.runMutation(internal.agent.saveUsage, {
      guest: userId ?? "",
      input: usage.inputTokens ?? 0,
      output: usage.outputTokens ?? 0,
    });
  },
});

export const answer = internalAction({
  args: { threadId: v.string(), promptMessageId: v.string() },
  handler: async (ctx, { threadId, promptMessageId }) => {
    await desk.generateText(ctx, { threadId }, { promptMessageId });
  },
});

export const bookingOf = internalQuery({
  args: { guest: v.string(), room: v.number() },
  handler: async (ctx, { guest, room }) => {
    const booking = await ctx.db
      .query("bookings")
      .withIndex("by_guest_and_room", (q) =>
        q.eq("guest", guest).eq("room", room),
      )
      .first();
    return booking && { nights: booking.nights };
  },
});

export const saveTaxi = internalMutation({
  args: { guest: v.string(), threadId: v.string(), time: v.string() },
  handler: async (ctx, args) => {
    await ctx.db.insert("taxis", args);
  },
});

export const saveUsage = internalMutation({
  args: { guest: v.string(), input: v.number(), output: v.number() },
  handler: async (ctx, args) => {
    await ctx.db.insert("usage", args);
  },
});
