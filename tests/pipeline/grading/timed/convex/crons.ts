import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.hourly("hourly", { minuteUTC: 30 }, internal.jobs.record, { name: "hourly" });
export default crons;
