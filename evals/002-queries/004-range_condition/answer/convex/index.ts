import { v } from "convex/values";
import { query } from "./_generated/server";

export const getMeasurements = query({
  args: { sensor: v.string(), from: v.number(), to: v.number() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("measurements")
      .withIndex("by_sensor_and_takenAt", (q) =>
        q
          .eq("sensor", args.sensor)
          .gte("takenAt", args.from)
          .lt("takenAt", args.to),
      )
      .collect();
  },
});
