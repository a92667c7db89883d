import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("keep alive", { hours: 2 }, internal.messages.keep, { body: "tick" });
export default crons;
