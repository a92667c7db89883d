import { v } from "convex/values";
import { internalMutation, internalQuery, mutation, query } from "./_generated/server";
import { settings } from "./appSettings";

export const all = query({
  args: {},
  returns: settings.publicValues,
  handler: async (ctx) => await settings.getPublic(ctx),
});

export const one = query({
  args: { key: settings.publicKey },
  handler: async (ctx, { key }) => await settings.get(ctx, key),
});

export const save = mutation({
  args: { entry: settings.publicEntry },
  returns: v.null(),
  handler: async (ctx, { entry }) => {
    await settings.apply(ctx, entry);
    return null;
  },
});

export const read = internalQuery({
  args: { key: settings.key },
  handler: async (ctx, { key }) => await settings.get(ctx, key),
});

export const several = internalQuery({
  args: {},
  handler: async (ctx) => await settings.getMany(ctx, ["limits", "theme", "mail"]),
});

export const write = internalMutation({
  args: { entry: settings.entry },
  returns: v.null(),
  handler: async (ctx, { entry }) => {
    await settings.apply(ctx, entry);
    return null;
  },
});

export const change = internalMutation({
  args: { entry: settings.changes },
  returns: v.null(),
  handler: async (ctx, { entry }) => {
    await settings.applyChanges(ctx, entry);
    return null;
  },
});

export const clear = internalMutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    await settings.patch(ctx, "layout", { accent: undefined });
    await settings.patch(ctx, "limits", { perDay: undefined, burst: { size: undefined, window: undefined } });
    return null;
  },
});

export const reset = internalMutation({
  args: { key: settings.key },
  returns: v.null(),
  handler: async (ctx, { key }) => {
    await settings.reset(ctx, key);
    return null;
  },
});
