import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalMutation,
  mutation,
  query,
  type ActionCtx,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

/** Adds an entry for the function whose context this is, and returns its label. */
export async function journal(
  ctx: QueryCtx | MutationCtx | ActionCtx,
  text: string,
): Promise<string> {
  const { name, type, visibility } = await ctx.meta.getFunctionMetadata();
  const label = `${visibility} ${type} ${name}`;
  if ("runMutation" in ctx)
    await ctx.runMutation(internal.journal.write, { name, text, label });
  return label;
}

export const write = internalMutation({
  args: { name: v.string(), text: v.string(), label: v.string() },
  returns: v.null(),
  handler: async (ctx, { name, text, label }) => {
    const module = name.slice(0, name.lastIndexOf(":"));
    if (await findMuted(ctx, name)) return null;
    await ctx.db.insert("entries", { module, text, label });
    return null;
  },
});

export const entries = query({
  args: { module: v.nullable(v.string()) },
  returns: v.array(v.object({ text: v.string(), label: v.string() })),
  handler: async (ctx, { module }) => {
    const found =
      module === null
        ? await ctx.db.query("entries").collect()
        : await ctx.db
            .query("entries")
            .withIndex("by_module", (q) => q.eq("module", module))
            .collect();
    return found.map(({ text, label }) => ({ text, label }));
  },
});

export const mute = mutation({
  args: { name: v.string(), isMuted: v.boolean() },
  returns: v.null(),
  handler: async (ctx, { name, isMuted }) => {
    const found = await findMuted(ctx, name);
    if (isMuted && !found) await ctx.db.insert("muted", { name });
    if (!isMuted && found) await ctx.db.delete("muted", found._id);
    return null;
  },
});

async function findMuted(ctx: QueryCtx, name: string) {
  return await ctx.db
    .query("muted")
    .withIndex("by_name", (q) => q.eq("name", name))
    .unique();
}
