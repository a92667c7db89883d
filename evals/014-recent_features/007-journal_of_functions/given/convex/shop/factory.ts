import { v } from "convex/values";
import { internalMutation, mutation, query } from "../_generated/server";
import { journal } from "../journal";

/** The functions that every part of the shop has. */
export function part() {
  const args = { text: v.string() };
  const returns = v.string();
  return {
    show: query({
      args,
      returns,
      handler: async (ctx, { text }): Promise<string> =>
        await journal(ctx, text),
    }),
    save: mutation({
      args,
      returns,
      handler: async (ctx, { text }): Promise<string> =>
        await journal(ctx, text),
    }),
    reset: internalMutation({
      args,
      returns,
      handler: async (ctx, { text }): Promise<string> =>
        await journal(ctx, text),
    }),
  };
}
