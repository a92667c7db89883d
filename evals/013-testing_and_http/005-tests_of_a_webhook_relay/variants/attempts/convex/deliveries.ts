import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { fail, me, mine } from "./rules";

const one = { deliveryId: v.id("deliveries") };

export async function waiting(ctx: QueryCtx, endpointId: Id<"endpoints">) {
  const all = await ctx.db.query("deliveries").collect();
  return all.filter((each) => each.endpointId === endpointId && each.over === null);
}

async function attemptsOf(ctx: QueryCtx, deliveryId: Id<"deliveries">) {
  const all = await ctx.db.query("attempts").collect();
  return all.filter((each) => each.deliveryId === deliveryId);
}

export async function startAt(ctx: MutationCtx, deliveryId: Id<"deliveries">, due: number) {
  const delivery = await ctx.db.get("deliveries", deliveryId);
  if (delivery?.job) await ctx.scheduler.cancel(delivery.job);
  const job = await ctx.scheduler.runAfter(due - Date.now(), internal.deliveries.send, { deliveryId });
  await ctx.db.patch("deliveries", deliveryId, { job, due });
}

export async function dropAll(ctx: MutationCtx, endpointId: Id<"endpoints">) {
  for (const { _id, job } of await waiting(ctx, endpointId)) {
    if (job !== null) await ctx.scheduler.cancel(job);
    await ctx.db.patch("deliveries", _id, { over: "dropped", job: null });
  }
}

export const load = internalQuery({
  args: one,
  handler: async (ctx, { deliveryId }) => {
    const delivery = await ctx.db.get("deliveries", deliveryId);
    const endpoint = delivery && (await ctx.db.get("endpoints", delivery.endpointId));
    const event = delivery && (await ctx.db.get("events", delivery.eventId));
    if (!delivery || !event || endpoint?.state !== "active" || delivery.over !== null) return null;
    const number = (await attemptsOf(ctx, deliveryId)).filter(({ counts }) => counts).length + 1;
    const body = JSON.stringify({ at: event.published, payload: event.payload, type: event.type, id: event._id });
    return { number, body, url: endpoint.url, secret: endpoint.secret };
  },
});

export const send = internalAction({
  args: one,
  handler: async (ctx, { deliveryId }) => {
    const todo = await ctx.runQuery(internal.deliveries.load, { deliveryId });
    if (todo === null) return;
    const bytes = (text: string) => new TextEncoder().encode(text);
    const options = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes(todo.secret), options, false, ["sign"]);
    const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(todo.body)));
    const digits = Array.from(signed, (byte) => (256 + byte).toString(16).slice(1)).join("");
    const headers = new Headers({ "x-delivery": deliveryId, "x-attempt": `${String(todo.number)}` });
    headers.set("x-signature", `sha256=${digits}`);
    let result: { status: number | null; seconds: number } = { status: null, seconds: 0 };
    try {
      const response = await fetch(todo.url, { headers, body: todo.body, method: "POST" });
      const wish = Number(response.headers.get("retry-after") ?? "0");
      result = { status: response.status, seconds: response.status === 429 && wish > 0 ? Math.min(wish, 3600) : 0 };
    } finally {
      await ctx.runMutation(internal.deliveries.done, { deliveryId, ...result });
    }
  },
});

export const done = internalMutation({
  args: { ...one, status: v.union(v.number(), v.null()), seconds: v.number() },
  handler: async (ctx, { deliveryId, status, seconds }) => {
    const delivery = await ctx.db.get("deliveries", deliveryId);
    if (delivery?.over !== null) return;
    await ctx.db.insert("attempts", { deliveryId, status, counts: true });
    const number = (await attemptsOf(ctx, deliveryId)).filter(({ counts }) => counts).length;
    const streak = (await ctx.db.query("streaks").collect()).find((each) => each.endpointId === delivery.endpointId);
    if (streak === undefined) return;
    if (status !== null && String(status).startsWith("2")) {
      await ctx.db.patch("deliveries", deliveryId, { over: "delivered", job: null });
      await ctx.db.patch("streaks", streak._id, { failed: 0 });
    } else if (status === 410 || number === 4) {
      await ctx.db.patch("deliveries", deliveryId, { over: "failed", job: null });
      await ctx.db.patch("streaks", streak._id, { failed: streak.failed + 1 });
      if (status === 410 || streak.failed === 2) {
        await ctx.db.patch("endpoints", delivery.endpointId, { state: "disabled" });
        await dropAll(ctx, delivery.endpointId);
      }
    } else {
      await ctx.db.patch("deliveries", deliveryId, { job: null });
      const pause = seconds || { 1: 60, 2: 300, 3: 1800 }[number] || 0;
      await startAt(ctx, deliveryId, Date.now() + pause * 1000);
    }
  },
});

export const retry = mutation({
  args: one,
  handler: async (ctx, { deliveryId }) => {
    await me(ctx);
    const delivery = (await ctx.db.get("deliveries", deliveryId)) ?? fail("NOT_FOUND");
    const { state } = await mine(ctx, delivery.endpointId);
    if (delivery.over !== "failed") fail("WRONG_STATUS");
    if (state === "disabled") fail("DISABLED");
    for (const { _id } of await attemptsOf(ctx, deliveryId)) await ctx.db.patch("attempts", _id, { counts: false });
    await ctx.db.patch("deliveries", deliveryId, { over: null, due: Date.now() });
    if (state === "active") await startAt(ctx, deliveryId, Date.now());
    return null;
  },
});

export const history = query({
  args: { endpointId: v.id("endpoints"), count: v.number() },
  handler: async (ctx, { endpointId, count }) => {
    await mine(ctx, endpointId);
    if (count % 1 !== 0 || count < 1 || count > 50) fail("INVALID");
    const all = (await ctx.db.query("deliveries").order("desc").collect()).filter(
      (each) => each.endpointId === endpointId,
    );
    const rows = [];
    for (const { _id: deliveryId, eventId, over, due } of all.slice(0, count)) {
      const attempts = await attemptsOf(ctx, deliveryId);
      rows.push({
        deliveryId,
        type: (await ctx.db.get("events", eventId))?.type ?? "",
        status: over ?? ("waiting" as const),
        attempts: attempts.filter(({ counts }) => counts).length,
        lastStatus: attempts.at(-1)?.status ?? null,
        nextAt: over === null ? due : null,
      });
    }
    return rows;
  },
});
