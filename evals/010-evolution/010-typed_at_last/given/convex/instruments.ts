import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { showInstrument, specOf } from "./lib/jobs";
import { must } from "./lib/util";

export const add = mutation({
  args: { ownerId: v.any(), label: v.any(), spec: v.any(), serial: v.optional(v.any()) },
  handler: async (ctx, args): Promise<any> => {
    await must(ctx, "customers", args.ownerId);
    return await ctx.db.insert("instruments", args);
  },
});

export const get = query({
  args: { instrumentId: v.any() },
  handler: async (ctx, args): Promise<any> => {
    const row = await ctx.db.get("instruments", args.instrumentId);
    return row && showInstrument(row);
  },
});

export const ofCustomer = query(async (ctx, args: any): Promise<any> => {
  const rows = await ctx.db
    .query("instruments")
    .withIndex("by_owner", (q) => q.eq("ownerId", args.customerId))
    .collect();
  return rows.filter((row) => !args.family || specOf(row).family === args.family).map(showInstrument);
});
