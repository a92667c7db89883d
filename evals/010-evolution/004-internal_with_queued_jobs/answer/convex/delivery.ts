import { v } from "convex/values";
import { internal } from "./_generated/api";
import {
  internalAction,
  internalMutation,
  internalQuery,
  query,
} from "./_generated/server";

/** Run by the scheduler. Until last summer, campaigns.schedule passed `id` instead of `campaignId`. */
export const sendCampaign = internalMutation({
  args: {
    campaignId: v.optional(v.id("campaigns")),
    // Only in jobs that older versions have scheduled.
    id: v.optional(v.id("campaigns")),
    at: v.optional(v.union(v.number(), v.string())),
    timeZone: v.optional(v.string()),
  },
  handler: async (ctx, args) => {
    const campaignId = args.campaignId ?? args.id;
    if (!campaignId) return null;
    const campaign = await ctx.db.get("campaigns", campaignId);
    if (campaign?.status !== "scheduled") return null;
    const { subject } = campaign;
    for (const { email } of await ctx.db.query("subscribers").collect()) {
      await ctx.scheduler.runAfter(0, internal.delivery.sendOne, {
        campaignId,
        email,
        subject,
      });
    }
    await ctx.db.patch("campaigns", campaignId, { status: "sent" });
    return null;
  },
});

/** Posts one mail; tries again after 10 minutes, up to three times. */
export const sendOne = internalAction({
  args: {
    campaignId: v.optional(v.id("campaigns")),
    email: v.string(),
    subject: v.string(),
    attempts: v.optional(v.number()),
  },
  handler: async (ctx, args): Promise<null> => {
    const attempts = (args.attempts ?? 0) + 1;
    const url = await ctx.runQuery(internal.delivery.mailUrl, {});
    const { email, subject, campaignId } = args;
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify({ email, subject }),
    });
    if (response.ok) {
      await ctx.runMutation(internal.delivery.record, {
        campaignId,
        email,
        attempts,
      });
    } else if (attempts < 3) {
      await ctx.scheduler.runAfter(600_000, internal.delivery.sendOne, {
        ...args,
        attempts,
      });
    }
    return null;
  },
});

/** For the automation of "subscribed". */
export const welcome = internalMutation({
  args: {
    email: v.string(),
    // Only in jobs that older versions have scheduled.
    name: v.optional(v.nullable(v.string())),
    source: v.optional(v.string()),
  },
  handler: async (ctx, args) => {
    await ctx.scheduler.runAfter(0, internal.delivery.sendOne, {
      email: args.email,
      subject: "Welcome!",
    });
    return null;
  },
});

export const mailUrl = internalQuery({
  args: {},
  handler: async (ctx) => {
    const setting = await ctx.db
      .query("settings")
      .withIndex("by_key", (q) => q.eq("key", "mailUrl"))
      .unique();
    if (!setting) throw new Error("The setting mailUrl is missing");
    return setting.value;
  },
});

export const record = internalMutation({
  args: {
    campaignId: v.optional(v.id("campaigns")),
    email: v.string(),
    attempts: v.number(),
  },
  handler: async (ctx, args) => {
    await ctx.db.insert("deliveries", args);
    return null;
  },
});

export const delivered = query({
  args: { campaignId: v.id("campaigns") },
  handler: async (ctx, args) => {
    const deliveries = await ctx.db
      .query("deliveries")
      .withIndex("by_campaign", (q) => q.eq("campaignId", args.campaignId))
      .collect();
    return deliveries.length;
  },
});
