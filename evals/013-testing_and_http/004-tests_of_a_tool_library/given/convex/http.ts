import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

function json(body: unknown, status = 200) {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });
}

type Payment = { reference: string; member: string; cents: number };

function isPayment(value: unknown): value is Payment {
  if (typeof value !== "object" || value === null) return false;
  const { reference, member, cents } = value as Record<string, unknown>;
  const isNamed = typeof reference === "string" && reference !== "" && typeof member === "string";
  return isNamed && typeof cents === "number" && Number.isInteger(cents) && cents > 0;
}

async function read(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return null;
  }
}

http.route({
  path: "/payments",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const key = process.env.PAYMENTS_KEY;
    const isKnown = key !== undefined && request.headers.get("Authorization") === `Bearer ${key}`;
    if (!isKnown) return json({ error: "UNAUTHORIZED" }, 401);
    const payment = await read(request);
    if (!isPayment(payment)) return json({ error: "INVALID" }, 400);
    const { reference, member, cents } = payment;
    const { owedCents, isNew } = await ctx.runMutation(internal.accounts.recordPayment, { reference, member, cents });
    return json({ owedCents }, isNew ? 201 : 200);
  }),
});

http.route({
  path: "/tools",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const onlyFree = new URL(request.url).searchParams.get("free") === "1";
    const tools = await ctx.runQuery(internal.tools.listFor, { onlyFree });
    return json(tools.map(({ name, free, waiting }) => ({ name, free, waiting })));
  }),
});

export default http;
