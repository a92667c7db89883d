import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { promoteWaiting } from "./rooms";

export const expire = internalMutation({
  args: { id: v.id("reservations"), expiresAt: v.number() },
  handler: async (ctx, { id, expiresAt }) => {
    const held = await ctx.db.get("reservations", id);
    if (held?.status !== "held" || held.expiresAt !== expiresAt) {
      return;
    }
    await ctx.db.patch("reservations", id, {
      status: "expired",
      active: false,
    });
    await promoteWaiting(ctx, held.room);
  },
});

export const lapse = internalMutation({
  args: { id: v.id("reservations") },
  handler: async (ctx, { id }) => {
    const waiting = await ctx.db.get("reservations", id);
    if (waiting?.status === "waiting") {
      await ctx.db.patch("reservations", id, { status: "lapsed" });
    }
  },
});
