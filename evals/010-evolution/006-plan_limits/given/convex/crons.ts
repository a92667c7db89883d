import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.weekly(
  "weekly projects",
  { dayOfWeek: "monday", hourUTC: 5, minuteUTC: 0 },
  internal.recurring.monday,
);

export default crons;
