import { cronJobs } from "convex/server";
import { api } from "./_generated/api";

const crons = cronJobs();

crons.interval("forget deliveries", { hours: 12 }, api.housekeeping.forget, {
  days: 30,
});

export default crons;
