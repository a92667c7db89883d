import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.daily(
  "remind everybody",
  { hourUTC: 6, minuteUTC: 0 },
  internal.reports.remind,
);

crons.interval(
  "empty the trash",
  { hours: 1 },
  internal.trash.empty,
);

export default crons;
