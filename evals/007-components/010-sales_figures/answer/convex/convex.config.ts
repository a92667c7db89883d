import aggregate from "@convex-dev/aggregate/convex.config.js";
import shardedCounter from "@convex-dev/sharded-counter/convex.config.js";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(aggregate);
app.use(aggregate, { name: "cashiers" });
app.use(shardedCounter);

export default app;
