import rateLimiter from "@convex-dev/rate-limiter/convex.config.js";
import { defineComponent } from "convex/server";

const guard = defineComponent("guard");
guard.use(rateLimiter);
export default guard;
