import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { subject: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db.insert("campaigns", {
      subject: args.subject,
      status: "draft",
    });
  },
});

/** Sends a campaign later; scheduled again, it is sent at the new time only. */
export const schedule = mutation({
  args: {
    campaignId: v.id("campaigns"),
    at: v.union(v.number(), v.string()),
    timeZone: v.optional(v.string()),
  },
  handler: async (ctx, args) => {
    const campaign = await ctx.db.get("campaigns", args.campaignId);
    if (!campaign || campaign.status === "sent") return false;
    if (campaign.jobId) await ctx.scheduler.cancel(campaign.jobId);
    const time = new Date(args.at).getTime();
    const jobId = await ctx.scheduler.runAt(
      time,
      internal.delivery.sendCampaign,
      { campaignId: args.campaignId },
    );
    await ctx.db.patch("campaigns", campaign._id, {
      status: "scheduled",
      jobId,
    });
    return true;
  },
});

export const cancel = mutation({
  args: { campaignId: v.id("campaigns") },
  handler: async (ctx, args) => {
    const campaign = await ctx.db.get("campaigns", args.campaignId);
    if (!campaign?.jobId || campaign.status !== "scheduled") return false;
    await ctx.scheduler.cancel(campaign.jobId);
    await ctx.db.patch("campaigns", campaign._id, {
      status: "draft",
      jobId: undefined,
    });
    return true;
  },
});

export const get = query({
  args: { campaignId: v.id("campaigns") },
  handler: async (ctx, args) => {
    const campaign = await ctx.db.get("campaigns", args.campaignId);
    if (!campaign) return null;
    return { subject: campaign.subject, status: campaign.status };
  },
});
