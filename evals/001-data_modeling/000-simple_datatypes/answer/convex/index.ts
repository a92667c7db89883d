import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const register = mutation({
  args: {
    name: v.string(),
    battery: v.number(),
    bytesSent: v.int64(),
    isOnline: v.boolean(),
    publicKey: v.bytes(),
    lastError: v.null(),
  },
  handler: async (ctx, args) => {
    return await ctx.db.insert("devices", args);
  },
});

export const get = query({
  args: { id: v.id("devices") },
  handler: async (ctx, { id }) => {
    return await ctx.db.get("devices", id);
  },
});

export const addTraffic = mutation({
  args: { id: v.id("devices"), bytes: v.int64() },
  handler: async (ctx, { id, bytes }) => {
    const device = await ctx.db.get("devices", id);
    if (device === null) {
      throw new Error(`There is no device ${id}`);
    }
    const bytesSent = device.bytesSent + bytes;
    await ctx.db.patch("devices", id, { bytesSent });
    return bytesSent;
  },
});
