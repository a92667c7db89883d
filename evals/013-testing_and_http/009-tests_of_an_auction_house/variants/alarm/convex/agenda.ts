import { internal } from "./_generated/api";
import { internalMutation } from "./_generated/server";
import { drop, failed, finish, wake } from "./rules";

export const tick = internalMutation({
  args: {},
  handler: async (ctx): Promise<void> => {
    for (const { _id } of await ctx.db.query("alarm").collect()) await ctx.db.delete("alarm", _id);
    for (;;) {
      const next = await ctx.db.query("agenda").withIndex("by_at").first();
      if (next === null) return;
      const { at, what } = next;
      if (at > Date.now()) {
        await wake(ctx, at);
        return;
      }
      await ctx.db.delete("agenda", next._id);
      if (what.kind === "end") {
        await finish(ctx, what.lot);
      } else if (what.kind === "due") {
        const offer = await ctx.db.get("offers", what.offer);
        if (offer?.result === "open" && offer.payment === null) await drop(ctx, offer, "lapsed", at);
      } else if (what.kind === "call") {
        await ctx.scheduler.runAfter(0, internal.offers.call, { charge: what.charge, call: what.call });
      } else {
        const charge = await ctx.db.get("charges", what.charge);
        const offer = charge && (await ctx.db.get("offers", charge.offer));
        if (offer?.payment === what.charge && charge?.call === what.call) await failed(ctx, charge, false, at);
      }
    }
  },
});
