import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { upToDate } from "./tickets";

/** Runs whenever something may happen to a ticket by itself. */
export const tick = internalMutation({
  args: { ticket: v.id("tickets") },
  returns: v.null(),
  handler: async (ctx, { ticket }) => {
    await upToDate(ctx, ticket);
    return null;
  },
});
