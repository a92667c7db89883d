import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  env,
  internalAction,
  internalMutation,
  mutation,
  query,
} from "./_generated/server";
import { status } from "./schema";

export const add = mutation({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (ctx, { text }) => {
    const id = await ctx.db.insert("messages", { text, status: "waiting" });
    const delayMs = Number(env.DELAY_SECONDS) * 1000;
    const message = { id, text };
    await ctx.scheduler.runAfter(delayMs, internal.messages.deliver, message);
    return null;
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object({ text: v.string(), status })),
  handler: async (ctx) => {
    const messages = await ctx.db.query("messages").collect();
    return messages.map(({ text, status }) => ({ text, status }));
  },
});

export const settings = query({
  args: {},
  returns: v.object({
    sender: v.string(),
    delaySeconds: v.number(),
    mode: v.union(v.literal("live"), v.literal("silent")),
    isReady: v.boolean(),
  }),
  handler: async () => ({
    sender: env.SENDER,
    delaySeconds: Number(env.DELAY_SECONDS),
    mode: env.MODE ?? "live",
    isReady: env.URL !== undefined && env.TOKEN !== undefined,
  }),
});

export const deliver = internalAction({
  args: { id: v.id("messages"), text: v.string() },
  handler: async (ctx, { id, text }) => {
    const status = await post(text);
    await ctx.runMutation(internal.messages.finish, { id, status });
  },
});

export const finish = internalMutation({
  args: { id: v.id("messages"), status },
  handler: async (ctx, { id, status }) => {
    await ctx.db.patch("messages", id, { status });
  },
});

async function post(text: string): Promise<"sent" | "failed" | "skipped"> {
  const { SENDER: sender, URL: url, TOKEN: token, MODE: mode } = env;
  if (mode === "silent" || url === undefined || token === undefined) {
    return "skipped";
  }
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ sender, text }),
    });
    return response.ok ? "sent" : "failed";
  } catch {
    return "failed";
  }
}
