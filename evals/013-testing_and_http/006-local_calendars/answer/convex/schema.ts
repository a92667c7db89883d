import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const ends = { until: v.optional(v.string()), count: v.optional(v.number()) };

export const rule = v.union(
  v.object({ every: v.literal("day"), step: v.number(), ...ends }),
  v.object({ every: v.literal("week"), step: v.number(), days: v.array(v.number()), ...ends }),
  v.object({ every: v.literal("month"), step: v.number(), day: v.number(), ...ends }),
  v.object({ every: v.literal("month"), step: v.number(), nth: v.number(), weekday: v.number(), ...ends }),
);

export const series = {
  title: v.string(),
  zone: v.string(),
  first: v.string(),
  time: v.number(),
  minutes: v.number(),
  remind: v.union(v.number(), v.null()),
  rule,
};

export const changes = v.array(v.object({ at: v.number(), offset: v.number() }));

export default defineSchema({
  zones: defineTable({ name: v.string(), offset: v.number(), changes }).index("by_name", ["name"]),
  series: defineTable({
    ...series,
    /** Later dates are not in the series; a count was turned into this when it was created. */
    last: v.union(v.string(), v.null()),
    /** Moments of reminders up to this one are done with. */
    seen: v.number(),
    job: v.union(v.id("_scheduled_functions"), v.null()),
  }),
  /** Occurrences that are not as the series says. */
  exceptions: defineTable({
    seriesId: v.id("series"),
    date: v.string(),
    to: v.union(v.object({ date: v.string(), time: v.number() }), v.null()),
  }).index("by_series_and_date", ["seriesId", "date"]),
  /** Occurrences that a reminder was written for; they may have another series by now. */
  reminded: defineTable({ seriesId: v.id("series"), date: v.string() }).index("by_series_and_date", [
    "seriesId",
    "date",
  ]),
  reminders: defineTable({ seriesId: v.id("series"), date: v.string(), at: v.number() }).index("by_series", [
    "seriesId",
    "at",
    "date",
  ]),
  pauses: defineTable({ at: v.number() }),
});
