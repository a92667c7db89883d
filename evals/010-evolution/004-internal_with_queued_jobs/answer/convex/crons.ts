import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.interval(
  "forget deliveries",
  { hours: 12 },
  internal.housekeeping.forget,
  { days: 30 },
);

export default crons;
