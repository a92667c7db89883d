import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

function json(body: unknown, status: number) {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
}

type Posted = { type: string; payload: string; key?: string };

function isPosted(value: unknown): value is Posted {
  if (typeof value !== "object" || value === null) return false;
  const { type, payload, key } = value as Record<string, unknown>;
  return typeof type === "string" && typeof payload === "string" && (key === undefined || typeof key === "string");
}

http.route({
  path: "/events",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const key = process.env.PUBLISH_KEY;
    if (key === undefined || request.headers.get("Authorization") !== `Bearer ${key}`) {
      return json({ error: "UNAUTHORIZED" }, 401);
    }
    const owner = request.headers.get("X-Owner");
    const posted: unknown = await request.json().catch(() => null);
    if (owner === null || !isPosted(posted)) return json({ error: "INVALID" }, 400);
    const { type, payload, key: repeatKey } = posted;
    try {
      const event = { owner, type, payload, key: repeatKey };
      const { eventId, deliveries, isNew } = await ctx.runMutation(internal.events.publishFor, event);
      return json({ eventId, deliveries }, isNew ? 202 : 200);
    } catch (error) {
      if (error instanceof ConvexError) return json({ error: "INVALID" }, 400);
      throw error;
    }
  }),
});

export default http;
