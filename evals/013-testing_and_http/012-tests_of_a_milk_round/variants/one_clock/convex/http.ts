import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { dayNumber } from "./calendar";

const http = httpRouter();

http.route({
  path: "/missed",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const key = process.env.ROUND_KEY;
    if (!key || request.headers.get("authorization") !== "Bearer " + key) return new Response(null, { status: 401 });
    let body: Record<string, unknown>;
    try {
      body = { ...((await request.json()) as object) };
    } catch {
      return new Response("no JSON", { status: 400 });
    }
    const { report, customer, product, date, quantity } = body;
    const texts = [report, customer, product, date].every((each) => typeof each === "string");
    const isGood = texts && report !== "" && dayNumber(String(date)) !== null && Number.isInteger(quantity);
    if (!isGood || Number(quantity) < 1) return new Response("not good", { status: 400 });
    const args = { report, customer, product, date, quantity } as {
      report: string;
      customer: string;
      product: string;
      date: string;
      quantity: number;
    };
    const { status, cents } = await ctx.runMutation(internal.rounds.report, args);
    return status < 300 ? Response.json({ cents }, { status }) : new Response("", { status });
  }),
});

export default http;
