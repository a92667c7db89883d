import { createFunctionHandle } from "convex/server";
import type { FunctionHandle } from "convex/server";
import { v } from "convex/values";
import { api } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const target = mutation({ args: { name: v.string() }, handler: async (_ctx, args) => `called by ${args.name}` });

export const make = query({
  args: {},
  handler: async () => [await createFunctionHandle(api.handles.target), await createFunctionHandle(api.handles.target)],
});

export const call = mutation({
  args: { handle: v.string() },
  handler: async (ctx, args): Promise<string> =>
    await ctx.runMutation(args.handle as FunctionHandle<"mutation", { name: string }, string>, { name: "handle" }),
});

export const schedule = mutation({
  args: { handle: v.string() },
  handler: async (ctx, args): Promise<string> =>
    await ctx.scheduler.runAfter(0, args.handle as FunctionHandle<"mutation", any>, { name: "scheduler" }),
});

// The placeholder of `db.vars.commitTs`, written by hand so that every SDK version in scope can compile this file.
const insertStamp = async (batch: string) =>
  await (globalThis as any).Convex.asyncSyscall(
    "1.0/insert",
    JSON.stringify({ table: "handles_stamps", value: { batch, ts: { $commitTs: null } } }),
  );

export const stamp = mutation({
  args: { batch: v.string() },
  handler: async (_ctx, args) => {
    await insertStamp(args.batch);
    await insertStamp(args.batch);
  },
});

export const stamps = query({
  args: { batch: v.string() },
  handler: async (ctx, args) =>
    (await ctx.db.query("handles_stamps").withIndex("by_batch", (q) => q.eq("batch", args.batch)).collect()).map(
      (one) => one.ts,
    ),
});
