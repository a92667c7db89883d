import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, mutation, query } from "./_generated/server";

/** Run by the scheduler. Until last summer, campaigns.schedule passed `id` instead of `campaignId`. */
export const sendCampaign = mutation(
  async (
    ctx,
    args: { campaignId?: Id<"campaigns">; id?: Id<"campaigns"> },
  ) => {
    const campaignId = args.campaignId ?? args.id;
    if (!campaignId) return null;
    const campaign = await ctx.db.get("campaigns", campaignId);
    if (campaign?.status !== "scheduled") return null;
    const { subject } = campaign;
    for (const { email } of await ctx.db.query("subscribers").collect()) {
      await ctx.scheduler.runAfter(0, api.delivery.sendOne, {
        campaignId,
        email,
        subject,
      });
    }
    await ctx.db.patch("campaigns", campaignId, { status: "sent" });
    return null;
  },
);

/** Posts one mail; tries again after 10 minutes, up to three times. */
export const sendOne = action(
  async (
    ctx,
    args: {
      campaignId?: Id<"campaigns">;
      email: string;
      subject: string;
      attempts?: number;
    },
  ): Promise<null> => {
    const attempts = (args.attempts ?? 0) + 1;
    const url = await ctx.runQuery(api.delivery.mailUrl, {});
    const { email, subject, campaignId } = args;
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify({ email, subject }),
    });
    if (response.ok) {
      await ctx.runMutation(api.delivery.record, {
        campaignId,
        email,
        attempts,
      });
    } else if (attempts < 3) {
      await ctx.scheduler.runAfter(600_000, api.delivery.sendOne, {
        ...args,
        attempts,
      });
    }
    return null;
  },
);

/** For the automation of "subscribed". */
export const welcome = mutation(async (ctx, args: { email: string }) => {
  await ctx.scheduler.runAfter(0, api.delivery.sendOne, {
    email: args.email,
    subject: "Welcome!",
  });
  return null;
});

export const mailUrl = query(async (ctx) => {
  const setting = await ctx.db
    .query("settings")
    .withIndex("by_key", (q) => q.eq("key", "mailUrl"))
    .unique();
  if (!setting) throw new Error("The setting mailUrl is missing");
  return setting.value;
});

export const record = mutation(
  async (
    ctx,
    args: { campaignId?: Id<"campaigns">; email: string; attempts: number },
  ) => {
    await ctx.db.insert("deliveries", args);
    return null;
  },
);

export const delivered = query(
  async (ctx, args: { campaignId: Id<"campaigns"> }) => {
    const deliveries = await ctx.db
      .query("deliveries")
      .withIndex("by_campaign", (q) => q.eq("campaignId", args.campaignId))
      .collect();
    return deliveries.length;
  },
);
