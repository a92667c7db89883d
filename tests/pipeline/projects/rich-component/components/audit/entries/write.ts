import { v } from "convex/values";
import { mutation, query } from "../_generated/server";

const level = v.union(v.literal("debug"), v.literal("info"), v.literal("warning"), v.literal("error"));

export const note = mutation({
  args: { text: v.string(), level },
  handler: async (ctx, args) => await ctx.db.insert("entries", args),
});

export const page2 = query({
  args: { after: v.optional(v.id("entries")), level: v.optional(level), exact: v.optional(v.literal(true)) },
  returns: v.array(
    v.object({ text: v.string(), level, size: v.int64(), raw: v.bytes(), more: v.any(), step: v.literal(7) }),
  ),
  handler: async () => [],
});

export const page10 = query({ args: {}, handler: async () => null });

export const Latest = query({
  args: {},
  returns: v.union(
    v.object({ _id: v.string(), _creationTime: v.number(), text: v.string(), previous: v.optional(v.string()) }),
    v.null(),
  ),
  handler: async () => null,
});
