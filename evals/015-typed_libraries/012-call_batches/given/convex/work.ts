import { ConvexError, v } from "convex/values";
import { action, internalAction } from "./_generated/server";

export const ping = action({
  args: {},
  returns: v.literal("pong"),
  handler: () => Promise.resolve("pong" as const),
});

export const measure = internalAction({
  args: { text: v.string(), unit: v.optional(v.string()) },
  returns: v.object({ length: v.number(), unit: v.string() }),
  handler: (_ctx, { text, unit }) => {
    if (text === "") throw new ConvexError("Nothing to measure");
    return Promise.resolve({ length: text.length, unit: unit ?? "letters" });
  },
});

/** Asks the URL, and gives its answer. */
export const ask = internalAction({
  args: { url: v.string() },
  returns: v.string(),
  handler: async (_ctx, { url }) => await (await fetch(url)).text(),
});
