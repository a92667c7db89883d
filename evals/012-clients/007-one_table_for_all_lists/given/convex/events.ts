import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** Newest first. */
export const list = query({
  args: { pinned: v.optional(v.boolean()), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { pinned, paginationOpts }) => {
    const events = ctx.db.query("events");
    const sorted =
      pinned === undefined
        ? events.withIndex("by_at")
        : events.withIndex("by_pinned_and_at", (q) => q.eq("pinned", pinned));
    return await sorted.order("desc").paginate(paginationOpts);
  },
});

export const setPinned = mutation({
  args: { eventId: v.id("events"), pinned: v.boolean() },
  handler: async (ctx, { eventId, pinned }) => {
    await ctx.db.patch("events", eventId, { pinned });
  },
});
