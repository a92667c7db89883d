import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.interval("delete files that nobody has added", { minutes: 5 }, internal.shelf.cleanUp, {});

export default crons;
