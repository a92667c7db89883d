import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { outbox } from "./jobs";

export const submit = mutation({
  args: { request: outbox.request, delayMs: v.optional(v.number()) },
  returns: v.id("jobs"),
  handler: async (ctx, { request, delayMs }) =>
    await outbox.enqueueRequest(ctx, request, { delayMs }),
});

export const email = mutation({
  args: { to: v.string(), subject: v.string(), failures: v.number() },
  returns: v.id("jobs"),
  handler: async (ctx, { to, subject, failures }) =>
    await outbox.enqueue(ctx, "sendEmail", {
      to: [to],
      subject,
      priority: "high",
      failures,
    }),
});

/** A report of now, and then everything is cleaned up. */
export const wrapUp = mutation({
  args: {},
  returns: v.object({ report: v.id("jobs"), cleanUp: v.id("jobs") }),
  handler: async (ctx) => ({
    report: await outbox.enqueue(ctx, "report"),
    cleanUp: await outbox.enqueue(ctx, "cleanUp", {}, { delayMs: 60_000 }),
  }),
});

export const messageId = query({
  args: { id: v.id("jobs") },
  returns: v.string(),
  handler: async (ctx, { id }) => {
    const job = await outbox.getResult(ctx, "sendEmail", id);
    if (job === null) return "none";
    switch (job.status) {
      case "waiting":
        return `waiting after ${job.attempts}`;
      case "failed":
        return `failed after ${job.attempts}: ${job.error}`;
      case "done":
        return job.result.messageId;
    }
  },
});

export const result = query({
  args: {
    name: v.union(
      v.literal("sendEmail"),
      v.literal("resize"),
      v.literal("report"),
      v.literal("cleanUp"),
    ),
    id: v.id("jobs"),
  },
  returns: v.any(),
  handler: async (ctx, { name, id }) => await outbox.getResult(ctx, name, id),
});
