import { defineApp } from "convex/server";
import { v } from "convex/values";
import notebook from "./notebook/convex.config";
import outer from "./outer/convex.config";

const app = defineApp({
  env: { API_KEY: v.optional(v.string()), PLAN: v.union(v.literal("free"), v.literal("paid")) },
});
app.use(notebook, { env: { OWNER: "first", PLAN: app.env.PLAN }, httpPrefix: "/first/" });
app.use(notebook, { name: "second", env: { OWNER: "second", PLAN: "free", KEY: app.env.API_KEY }, httpPrefix: "/second/" });
app.use(outer, { env: { PLAN: app.env.PLAN, KEY: app.env.API_KEY }, httpPrefix: "/outer/" });
export default app;
