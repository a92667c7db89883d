import { v } from "convex/values";
import { internalQuery, mutation, query } from "./_generated/server";
import type { QueryCtx } from "./_generated/server";
import { failure, requireStaff } from "./access";
import { countLoans, serveQueue } from "./queue";

const listed = v.object({
  toolId: v.id("tools"),
  name: v.string(),
  copies: v.number(),
  free: v.number(),
  waiting: v.number(),
});

async function listTools(ctx: QueryCtx) {
  const tools = await ctx.db.query("tools").withIndex("by_name").collect();
  return await Promise.all(
    tools.map(async (tool) => {
      const { taken, waiting } = await countLoans(ctx, tool._id);
      const free = Math.max(tool.copies - taken, 0);
      return { toolId: tool._id, name: tool.name, copies: tool.copies, free, waiting };
    }),
  );
}

export const list = query({
  args: {},
  returns: v.array(listed),
  handler: async (ctx) => await listTools(ctx),
});

export const listFor = internalQuery({
  args: { onlyFree: v.boolean() },
  returns: v.array(listed),
  handler: async (ctx, { onlyFree }) => {
    const tools = await listTools(ctx);
    return onlyFree ? tools.filter(({ free }) => free > 0) : tools;
  },
});

function isCount(value: number) {
  return Number.isInteger(value) && value >= 0;
}

export const add = mutation({
  args: { name: v.string(), copies: v.number(), depositCents: v.number() },
  returns: v.id("tools"),
  handler: async (ctx, { name, copies, depositCents }) => {
    await requireStaff(ctx);
    if (name.trim() === "" || !isCount(copies) || !isCount(depositCents)) throw failure("INVALID");
    const taken = await ctx.db
      .query("tools")
      .withIndex("by_name", (q) => q.eq("name", name.trim()))
      .first();
    if (taken !== null) throw failure("NAME_TAKEN");
    return await ctx.db.insert("tools", { name: name.trim(), copies, depositCents });
  },
});

export const setCopies = mutation({
  args: { toolId: v.id("tools"), copies: v.number() },
  returns: v.null(),
  handler: async (ctx, { toolId, copies }) => {
    await requireStaff(ctx);
    if (!isCount(copies)) throw failure("INVALID");
    await ctx.db.patch("tools", toolId, { copies });
    await serveQueue(ctx, toolId);
    return null;
  },
});
