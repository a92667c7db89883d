import { httpRouter } from "convex/server";
import type { Infer } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import type { event } from "./schema";

type Event = Infer<typeof event>;

const http = httpRouter();

http.route({
  path: "/webhooks/payments",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    let received: Event | null;
    try {
      received = parseEvent(JSON.parse(await request.text()));
    } catch (error) {
      return new Response(String(error), { status: 400 });
    }
    if (received !== null) {
      await ctx.runMutation(internal.billing.receiveEvent, { event: received });
    }
    return new Response(null, { status: 200 });
  }),
});

/** Null if it is of another type. Throws if it is malformed. */
function parseEvent(body: unknown): Event | null {
  if (typeof body !== "object" || body === null) {
    throw new Error("The body must be an object.");
  }
  const fields = new Map<string, unknown>(Object.entries(body));
  const text = (name: string): string => {
    const value = fields.get(name);
    if (typeof value === "string") {
      return value;
    }
    throw new Error(`${name} must be a string.`);
  };
  const number = (name: string): number => {
    const value = fields.get(name);
    if (typeof value === "number") {
      return value;
    }
    throw new Error(`${name} must be a number.`);
  };
  const id = text("id");
  const customer = text("customer");
  const type = text("type");
  if (type === "plan.changed") {
    return {
      type,
      id,
      customer,
      unitPrice: number("unitPrice"),
      includedUnits: number("includedUnits"),
      effectiveAt: number("effectiveAt"),
      version: number("version"),
    };
  }
  if (type === "payment.succeeded" || type === "payment.refunded") {
    return {
      type,
      id,
      customer,
      payment: text("payment"),
      amount: number("amount"),
    };
  }
  return null;
}

export default http;
