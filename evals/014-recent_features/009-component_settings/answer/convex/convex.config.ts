import { defineApp } from "convex/server";
import { v } from "convex/values";
import notifier from "./notifier/convex.config";

const app = defineApp({
  env: {
    NOTIFY_URL: v.optional(v.string()),
    ALERTS_TOKEN: v.optional(v.string()),
    DIGESTS_TOKEN: v.optional(v.string()),
    DIGESTS_MODE: v.optional(v.union(v.literal("live"), v.literal("silent"))),
  },
});

app.use(notifier, {
  name: "alerts",
  env: {
    SENDER: "Alarm desk",
    DELAY_SECONDS: "0",
    MODE: "live",
    URL: app.env.NOTIFY_URL,
    TOKEN: app.env.ALERTS_TOKEN,
  },
});
app.use(notifier, {
  name: "digests",
  env: {
    SENDER: "Weekly digest",
    DELAY_SECONDS: "600",
    MODE: app.env.DIGESTS_MODE,
    URL: app.env.NOTIFY_URL,
    TOKEN: app.env.DIGESTS_TOKEN,
  },
});

export default app;
