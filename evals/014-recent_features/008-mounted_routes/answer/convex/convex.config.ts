import { defineApp } from "convex/server";
import shortlinks from "./shortlinks/convex.config";

const app = defineApp();
app.use(shortlinks, { name: "press", httpPrefix: "/media/press" });
app.use(shortlinks, { name: "help", httpPrefix: "/to/help" });

export default app;
