import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { requireStaff } from "./access";
import { overview, serve } from "./loans";

const bad = (...values: number[]) => values.some((value) => value < 0 || value % 1 !== 0);

export const list = query({ args: {}, handler: async (ctx) => await overview(ctx) });

export const add = mutation({
  args: { name: v.string(), copies: v.number(), depositCents: v.number() },
  handler: async (ctx, args) => {
    await requireStaff(ctx);
    const tool = { ...args, name: args.name.trim() };
    if (!tool.name || bad(tool.copies, tool.depositCents)) throw new ConvexError({ code: "INVALID" });
    const tools = await ctx.db.query("tools").collect();
    if (tools.some(({ name }) => name === tool.name)) throw new ConvexError({ code: "NAME_TAKEN" });
    return await ctx.db.insert("tools", tool);
  },
});

export const setCopies = mutation({
  args: { toolId: v.id("tools"), copies: v.number() },
  handler: async (ctx, { toolId, copies }) => {
    await requireStaff(ctx);
    if (bad(copies)) throw new ConvexError({ code: "INVALID" });
    await ctx.db.patch("tools", toolId, { copies });
    await serve(ctx, toolId);
    return null;
  },
});
