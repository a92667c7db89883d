import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { showInstrument, specOf } from "./lib/jobs";
import { must } from "./lib/util";
import { family, instrument, spec } from "./lib/validators";

export const add = mutation({
  args: { ownerId: v.id("customers"), label: v.string(), spec, serial: v.optional(v.string()) },
  returns: v.id("instruments"),
  handler: async (ctx, args) => {
    await must(ctx, "customers", args.ownerId);
    return await ctx.db.insert("instruments", args);
  },
});

export const get = query({
  args: { instrumentId: v.id("instruments") },
  returns: v.nullable(instrument),
  handler: async (ctx, { instrumentId }) => {
    const row = await ctx.db.get("instruments", instrumentId);
    return row && showInstrument(row);
  },
});

export const ofCustomer = query({
  args: { customerId: v.id("customers"), family: v.optional(family) },
  returns: v.array(instrument),
  handler: async (ctx, { customerId, family }) => {
    const rows = await ctx.db
      .query("instruments")
      .withIndex("by_owner", (q) => q.eq("ownerId", customerId))
      .collect();
    return rows.filter((row) => family === undefined || specOf(row).family === family).map(showInstrument);
  },
});
