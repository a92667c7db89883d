import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction } from "./_generated/server";
import { outbox } from "./jobs";

/** Makes one attempt at a job. */
export const run = internalAction({
  args: { id: v.id("jobs") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    await outbox.run(ctx, id, {
      sendEmail: internal.work.sendEmail,
      resize: internal.work.resize,
      report: internal.work.report,
      cleanUp: internal.work.cleanUp,
    });
    return null;
  },
});
