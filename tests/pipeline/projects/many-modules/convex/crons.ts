import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("clear messages", { hours: 1 }, internal.messages.clear, {});
export default crons;
