import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const mount = v.union(v.literal("alerts"), v.literal("digests"));
type Status = "waiting" | "sent" | "failed" | "skipped";
type Settings = {
  sender: string;
  delaySeconds: number;
  mode: "live" | "silent";
  isReady: boolean;
};

export const send = mutation({
  args: { mount, text: v.string() },
  returns: v.null(),
  handler: async (ctx, { mount, text }): Promise<null> => {
    return await ctx.runMutation(components[mount].messages.add, { text });
  },
});

export const list = query({
  args: { mount },
  returns: v.array(v.object({ text: v.string(), status: v.string() })),
  handler: async (
    ctx,
    { mount },
  ): Promise<{ text: string; status: Status }[]> => {
    return await ctx.runQuery(components[mount].messages.list, {});
  },
});

export const settings = query({
  args: { mount },
  returns: v.object({
    sender: v.string(),
    delaySeconds: v.number(),
    mode: v.string(),
    isReady: v.boolean(),
  }),
  handler: async (ctx, { mount }): Promise<Settings> => {
    return await ctx.runQuery(components[mount].messages.settings, {});
  },
});
