"use node";

import { v } from "convex/values";
import { action, internalAction } from "../_generated/server";
import { journal } from "../journal";

export const pdf = action({
  args: { text: v.string() },
  returns: v.string(),
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});

export const png = internalAction({
  args: { text: v.string() },
  returns: v.string(),
  handler: async (ctx, { text }): Promise<string> => await journal(ctx, text),
});
