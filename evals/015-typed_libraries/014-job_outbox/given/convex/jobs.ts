import { v } from "convex/values";
import { createOutbox, job } from "./lib/outbox";

const priority = v.union(v.literal("low"), v.literal("high"));

/** All jobs. Old clients still ask for old versions of them. */
export const outbox = createOutbox({
  sendEmail: job({
    kind: "action",
    version: 3,
    payload: v.object({
      to: v.array(v.string()),
      subject: v.string(),
      priority,
      failures: v.optional(v.number()),
    }),
    result: v.object({ messageId: v.string() }),
    attempts: 4,
    backoffMs: 10_000,
  })
    .from(
      1,
      v.object({ address: v.string(), subject: v.string() }),
      ({ address, subject }) => ({ to: [address], subject, priority: "low" }),
    )
    .from(
      2,
      v.object({
        to: v.array(v.string()),
        subject: v.string(),
        isUrgent: v.boolean(),
      }),
      ({ isUrgent, ...rest }) => ({
        ...rest,
        priority: isUrgent ? "high" : "low",
      }),
    ),
  resize: job({
    kind: "mutation",
    version: 2,
    payload: v.object({ image: v.string(), width: v.number() }),
    result: v.number(),
    attempts: 2,
    backoffMs: 60_000,
  }).from(
    1,
    v.object({
      image: v.string(),
      size: v.union(v.literal("small"), v.literal("large")),
    }),
    (old) => ({ image: old.image, width: old.size === "small" ? 100 : 1000 }),
  ),
  report: job({
    kind: "action",
    version: 1,
    payload: v.object({ since: v.optional(v.number()) }),
    result: v.array(v.string()),
    attempts: 1,
    backoffMs: 1000,
  }),
  cleanUp: job({
    kind: "mutation",
    version: 1,
    payload: v.object({}),
    result: v.null(),
    attempts: 1,
    backoffMs: 1000,
  }),
});
