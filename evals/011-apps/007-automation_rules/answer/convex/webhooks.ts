import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction } from "./_generated/server";
import { issueValues } from "./schema";

export const call = internalAction({
  args: { issue: v.id("issues"), rule: v.string(), url: v.string(), values: issueValues },
  handler: async (ctx, { issue, rule, url, values }) => {
    let status: number | null = null;
    try {
      const body = JSON.stringify({ rule, issue, values });
      const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      status = response.status;
    } catch {
      // There was no response.
    }
    await ctx.runMutation(internal.tracker.addEntry, { issue, entry: { type: "answered", rule, url, status } });
    return null;
  },
});
