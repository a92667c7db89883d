import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";

export const MOST_AT_ONCE = 5;

export const limiter = new RateLimiter(components.rateLimiter, {
  user: {
    kind: "token bucket",
    rate: 1,
    period: 10 * MINUTE,
    capacity: MOST_AT_ONCE,
  },
  everyone: {
    kind: "token bucket",
    rate: 1,
    period: 15 * MINUTE,
    capacity: 12,
  },
  door: { kind: "token bucket", rate: 1, period: 20 * MINUTE, capacity: 3 },
});
