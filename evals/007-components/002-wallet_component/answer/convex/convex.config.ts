import { defineApp } from "convex/server";
import wallet from "./wallet/convex.config";

const app = defineApp();
app.use(wallet, { name: "coins" });
app.use(wallet, { name: "gems" });

export default app;
