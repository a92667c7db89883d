import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";

export const create = mutation(async (ctx, args: { subject: string }) => {
  return await ctx.db.insert("campaigns", {
    subject: args.subject,
    status: "draft",
  });
});

/** Sends a campaign later; scheduled again, it is sent at the new time only. */
export const schedule = mutation(
  async (ctx, args: { campaignId: Id<"campaigns">; at: number | string }) => {
    const campaign = await ctx.db.get("campaigns", args.campaignId);
    if (!campaign || campaign.status === "sent") return false;
    if (campaign.jobId) await ctx.scheduler.cancel(campaign.jobId);
    const time = new Date(args.at).getTime();
    const jobId = await ctx.scheduler.runAt(
      time,
      api.delivery.sendCampaign,
      args,
    );
    await ctx.db.patch("campaigns", campaign._id, {
      status: "scheduled",
      jobId,
    });
    return true;
  },
);

export const cancel = mutation(
  async (ctx, args: { campaignId: Id<"campaigns"> }) => {
    const campaign = await ctx.db.get("campaigns", args.campaignId);
    if (!campaign?.jobId || campaign.status !== "scheduled") return false;
    await ctx.scheduler.cancel(campaign.jobId);
    await ctx.db.patch("campaigns", campaign._id, {
      status: "draft",
      jobId: undefined,
    });
    return true;
  },
);

export const get = query(async (ctx, args: { campaignId: Id<"campaigns"> }) => {
  const campaign = await ctx.db.get("campaigns", args.campaignId);
  if (!campaign) return null;
  return { subject: campaign.subject, status: campaign.status };
});
