import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { allSettings, save, setting as read } from "./lib/settings";
import { setting, settingKey, settings, settingValue } from "./lib/validators";

export const get = query({
  args: { key: settingKey },
  returns: settingValue,
  handler: async (ctx, { key }) => await read(ctx, key),
});

export const set = mutation({
  args: { setting },
  returns: v.null(),
  handler: async (ctx, { setting }) => {
    await save(ctx, setting);
    return null;
  },
});

export const all = query({
  args: {},
  returns: settings,
  handler: async (ctx) => await allSettings(ctx),
});
