import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();

crons.interval("house entry", { minutes: 10 }, internal.book.appear, {
  text: "Open",
  address: null,
  program: null,
});

export default crons;
