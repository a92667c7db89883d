import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { applyPatch, diff, operationValidator, Patch } from "./lib/patches";

const tableValidator = v.union(
  v.literal("users"),
  v.literal("projects"),
  v.literal("shapes"),
);

export const apply = mutation({
  args: {
    table: tableValidator,
    id: v.string(),
    operations: v.array(operationValidator),
  },
  returns: v.null(),
  handler: async (ctx, { table, id, operations }) => {
    const known = ctx.db.normalizeId(table, id);
    if (known === null) throw new ConvexError({ code: "NOT_FOUND" });
    await applyPatch(ctx, known, new Patch(table, operations));
    return null;
  },
});

export const compare = query({
  args: { table: tableValidator, before: v.string(), after: v.string() },
  returns: v.array(operationValidator),
  handler: async (ctx, { table, before, after }) => {
    const [old, now] = await Promise.all(
      [before, after].map(async (id) => {
        const known = ctx.db.normalizeId(table, id);
        return known && (await ctx.db.get(known));
      }),
    );
    if (!old || !now) throw new ConvexError({ code: "NOT_FOUND" });
    return [...diff(table, old, now).operations];
  },
});
