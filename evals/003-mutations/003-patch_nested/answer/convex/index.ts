import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { quietHours } from "./schema";

type Settings = Doc<"users">["settings"];

/** A patch replaces `settings` as a whole, so the new ones are made from the old ones. */
async function changeSettings(
  ctx: MutationCtx,
  userId: Id<"users">,
  change: (settings: Settings) => Settings,
) {
  const user = await ctx.db.get("users", userId);
  if (user === null) {
    throw new Error(`There is no user ${userId}`);
  }
  const settings = change(user.settings);
  await ctx.db.patch("users", userId, { settings });
  return settings;
}

export const setTheme = mutation({
  args: { userId: v.id("users"), theme: v.string() },
  handler: async (ctx, { userId, theme }) => {
    return await changeSettings(ctx, userId, (settings) => ({
      ...settings,
      theme,
    }));
  },
});

export const updateNotifications = mutation({
  args: {
    userId: v.id("users"),
    email: v.optional(v.boolean()),
    push: v.optional(v.boolean()),
    quietHours: v.optional(quietHours),
  },
  handler: async (ctx, { userId, ...given }) => {
    return await changeSettings(ctx, userId, (settings) => ({
      ...settings,
      notifications: { ...settings.notifications, ...given },
    }));
  },
});

export const clearLanguage = mutation({
  args: { userId: v.id("users") },
  handler: async (ctx, { userId }) => {
    return await changeSettings(ctx, userId, (settings) => ({
      ...settings,
      language: undefined,
    }));
  },
});
