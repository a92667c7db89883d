import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("tick", { seconds: 1 }, internal.ticks.tick);
export default crons;
