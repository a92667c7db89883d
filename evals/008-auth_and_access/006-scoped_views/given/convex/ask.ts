// With these functions, tests ask for what does not compile. Clients of the practice do not use them.
import { v } from "convex/values";
import { views } from "./views";

type Unchecked = Record<string, (...args: unknown[]) => Promise<unknown>>;

export const read = views.query("reception", "doctor", "patient")({
  args: { method: v.union(v.literal("get"), v.literal("list"), v.literal("page"), v.literal("count")), args: v.array(v.any()) },
  handler: async ({ db }, { method, args }) => (await (db as unknown as Unchecked)[method](...(args as unknown[]))) ?? null,
});

export const write = views.mutation("reception", "doctor", "patient")({
  args: {
    calls: v.array(
      v.object({ method: v.union(v.literal("insert"), v.literal("patch"), v.literal("remove")), args: v.array(v.any()) }),
    ),
    goOn: v.boolean(),
  },
  handler: async ({ db }, { calls, goOn }) => {
    const results: unknown[] = [];
    for (const { method, args } of calls) {
      try {
        results.push((await (db as unknown as Unchecked)[method](...(args as unknown[]))) ?? null);
      } catch (error) {
        if (!goOn) throw error;
        results.push("failed");
      }
    }
    return results;
  },
});
