import actionCache from "@convex-dev/action-cache/convex.config";
import actionRetrier from "@convex-dev/action-retrier/convex.config";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(actionCache);
app.use(actionRetrier);

export default app;
