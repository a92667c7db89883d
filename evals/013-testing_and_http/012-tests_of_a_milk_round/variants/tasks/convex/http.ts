import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { exists } from "./calendar";

const http = httpRouter();
const reply = (status: number, body: object) => new Response(JSON.stringify(body), { status });

http.route({
  path: "/missed",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const secret = process.env.ROUND_KEY;
    const given = request.headers.get("Authorization");
    if (secret === undefined || given === null || given !== `Bearer ${secret}`) return reply(401, {});
    const text = await request.text();
    try {
      const body = JSON.parse(text) as Record<string, unknown>;
      const { report: key, customer: name, product, date: day, quantity: pieces } = body;
      if (typeof key !== "string" || typeof name !== "string" || typeof product !== "string") return reply(400, {});
      if (typeof day !== "string" || typeof pieces !== "number" || key.length === 0) return reply(400, {});
      if (!exists(day) || pieces <= 0 || pieces !== Math.round(pieces)) return reply(400, {});
      const [status, cents] = await ctx.runMutation(internal.rounds.miss, { key, name, product, day, pieces });
      return reply(status, status < 400 ? { cents } : {});
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError) return reply(400, {});
      throw error;
    }
  }),
});

export default http;
