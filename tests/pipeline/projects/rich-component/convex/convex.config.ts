import { defineApp } from "convex/server";
import counter from "./counter/convex.config";
import audit from "../components/audit/convex.config.js";

const app = defineApp();
app.use(counter);
app.use(counter, { name: "spareCounter" });
app.use(audit);
export default app;
