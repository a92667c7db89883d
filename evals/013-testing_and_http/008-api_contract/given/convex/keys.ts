import { v } from "convex/values";
import { internalMutation, type MutationCtx } from "./_generated/server";

const find = async (ctx: MutationCtx, operation: string, key: string) =>
  await ctx.db
    .query("keys")
    .withIndex("by_key", (q) => q.eq("operation", operation).eq("key", key))
    .unique();

/** Whether a key of an operation is new, and what became of it otherwise. A new one is in use from now on. */
export const claim = internalMutation({
  args: { operation: v.string(), key: v.string(), fingerprint: v.string() },
  returns: v.union(
    v.object({ state: v.literal("new") }),
    v.object({ state: v.literal("other") }), // it was used with another fingerprint
    v.object({ state: v.literal("running") }), // there is no response yet
    v.object({ state: v.literal("done"), status: v.number(), body: v.nullable(v.string()) }),
  ),
  handler: async (ctx, { operation, key, fingerprint }) => {
    const found = await find(ctx, operation, key);
    if (found === null) {
      await ctx.db.insert("keys", { operation, key, fingerprint, response: null });
      return { state: "new" as const };
    }
    if (found.fingerprint !== fingerprint) return { state: "other" as const };
    if (found.response === null) return { state: "running" as const };
    return { state: "done" as const, ...found.response };
  },
});

/** Keeps the response to a request with this key. */
export const finish = internalMutation({
  args: { operation: v.string(), key: v.string(), status: v.number(), body: v.nullable(v.string()) },
  returns: v.null(),
  handler: async (ctx, { operation, key, ...response }) => {
    const found = await find(ctx, operation, key);
    if (found !== null) await ctx.db.patch("keys", found._id, { response });
    return null;
  },
});

/** Forgets a key. */
export const release = internalMutation({
  args: { operation: v.string(), key: v.string() },
  returns: v.null(),
  handler: async (ctx, { operation, key }) => {
    const found = await find(ctx, operation, key);
    if (found !== null) await ctx.db.delete("keys", found._id);
    return null;
  },
});
