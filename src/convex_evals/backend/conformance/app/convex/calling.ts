import { v } from "convex/values";
import { action, internalMutation, internalQuery, mutation, query } from "./_generated/server";

export const echo = query({ args: { body: v.string() }, handler: async (_ctx, args) => args.body });

export const nothing = query({ args: {}, handler: async () => {} });

export const unchecked = query({ handler: async (_ctx, args: Record<string, unknown>) => args as any });

export const hidden = internalQuery({ args: {}, handler: async () => "seen" });

export const hiddenWrite = internalMutation({ args: {}, handler: async () => "written" });

export const send = mutation({
  args: { body: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("calling_notes", { body: args.body }),
});

export const act = action({ args: {}, handler: async () => "acted" });

export const count = query({
  args: {},
  handler: async (ctx) => (await ctx.db.query("calling_notes").collect()).length,
});

export const takesNoteId = query({ args: { id: v.id("calling_notes") }, handler: async (_ctx, args) => args.id });

export const insertOther = mutation({
  args: {},
  handler: async (ctx) => await ctx.db.insert("calling_others", { body: "other" }),
});

export const lengthOf = query({
  args: { text: v.string() },
  handler: async (_ctx, args) => args.text.length,
});

export const big = query({ args: {}, handler: async () => ["x".repeat(9_000_000), "y".repeat(9_000_000)] });

export const wrongReturn = query({ args: {}, returns: v.string(), handler: async () => 5 as unknown as string });

export const writeThenWrongReturn = mutation({
  args: {},
  returns: v.string(),
  handler: async (ctx) => {
    await ctx.db.insert("calling_notes", { body: "must not stay" });
    return 5 as unknown as string;
  },
});

export const longArray = query({ args: {}, handler: async () => new Array(8193).fill(1) });

export const queryObject = query({
  args: {},
  handler: async (ctx) => ctx.db.query("calling_notes") as unknown as null,
});

export const neverSettles = query({ args: {}, handler: () => new Promise<null>(() => {}) });

export const unawaitedInsert = mutation({
  args: {},
  handler: async (ctx) => {
    void ctx.db.insert("calling_notes", { body: "not awaited" });
  },
});

export const unawaitedInsertThenThrow = mutation({
  args: {},
  handler: async (ctx) => {
    void ctx.db.insert("calling_notes", { body: "not awaited" });
    throw new Error("after all");
  },
});

export const unhandledRejection = query({
  args: {},
  handler: async () => {
    void Promise.reject(new Error("nobody caught this"));
    return "returned";
  },
});

export const roundTrip = query({ args: { value: v.any() }, handler: async (_ctx, args) => args.value });

export const specials = query({
  args: {},
  handler: async () => ({ nan: NaN, negativeZero: -0, infinity: Infinity, big: 42n, bytes: new Uint8Array([1, 2]).buffer }),
});

export const unsortedKeys = query({ args: {}, handler: async () => ({ b: 1, a: 2, C: 3 }) });
