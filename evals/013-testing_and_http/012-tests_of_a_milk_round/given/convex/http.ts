import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { isDate } from "./calendar";

const http = httpRouter();

function json(body: unknown, status: number) {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
}

type Missed = { report: string; customer: string; product: string; date: string; quantity: number };

function isMissed(value: unknown): value is Missed {
  if (typeof value !== "object" || value === null) return false;
  const { report, customer, product, date, quantity } = value as Record<string, unknown>;
  if (typeof report !== "string" || report === "") return false;
  if (typeof customer !== "string" || typeof product !== "string") return false;
  if (typeof date !== "string" || !isDate(date)) return false;
  return typeof quantity === "number" && Number.isInteger(quantity) && quantity > 0;
}

http.route({
  path: "/missed",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const key = process.env.ROUND_KEY;
    if (key === undefined || request.headers.get("Authorization") !== `Bearer ${key}`) {
      return json({ error: "UNAUTHORIZED" }, 401);
    }
    const missed: unknown = await request.json().catch(() => null);
    if (!isMissed(missed)) return json({ error: "INVALID" }, 400);
    const { report, customer, product, date, quantity } = missed;
    const result = await ctx.runMutation(internal.rounds.reportMissed, { report, customer, product, date, quantity });
    if (result.status >= 400) return json({ error: "REFUSED" }, result.status);
    return json({ cents: result.cents }, result.status);
  }),
});

export default http;
