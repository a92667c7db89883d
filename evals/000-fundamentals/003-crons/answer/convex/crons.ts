import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.interval("poll", { minutes: 45 }, internal.jobs.tick, { source: "poll" });

crons.daily(
  "morning",
  { hourUTC: 6, minuteUTC: 30 },
  internal.jobs.tick,
  { source: "morning" },
);

crons.weekly(
  "clean up",
  { dayOfWeek: "monday", hourUTC: 4, minuteUTC: 0 },
  internal.jobs.cleanUp,
);

crons.monthly(
  "new month",
  { day: 1, hourUTC: 0, minuteUTC: 15 },
  internal.jobs.tick,
  { source: "month" },
);

crons.cron("office hours", "0 9-17 * * 1-5", internal.jobs.tick, {
  source: "office",
});

export default crons;
