import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { allSettings, saveSetting, setting } from "./lib/settings";

export const get = query({
  args: { key: v.any() },
  handler: async (ctx, { key }): Promise<any> => await setting(ctx, key),
});

export const set = mutation({
  args: { setting: v.any() },
  handler: async (ctx, args) => {
    await saveSetting(ctx, args.setting.key, args.setting.value);
    return null;
  },
});

export const all = query(async (ctx): Promise<any> => await allSettings(ctx));
