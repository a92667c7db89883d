import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const LONGEST_KEY = 100;

const charge = httpAction(async (ctx, request) => {
  const key = request.headers.get("Idempotency-Key") ?? "";
  const order = parseOrder(await request.text());
  if (key === "" || key.length > LONGEST_KEY || order === null) {
    return Response.json({ error: "malformed" }, { status: 400 });
  }
  const found = await ctx.runMutation(internal.charges.begin, {
    key,
    ...order,
  });
  if (found.next === "key in use") {
    return Response.json({ error: found.next }, { status: 422 });
  }
  if (found.next === "in progress") {
    return Response.json({ error: found.next }, { status: 409 });
  }
  if (found.next === "replay") {
    const { chargeId, approved } = found;
    const headers = { "Idempotent-Replayed": "true" };
    return Response.json({ chargeId, approved }, { status: 201, headers });
  }
  const { requestId, attempt, url } = found;
  const approved = await askBank(url, { reference: requestId, ...order });
  if (approved === null) {
    await ctx.runMutation(internal.charges.fail, { requestId, attempt });
    return Response.json({ error: "bank" }, { status: 502 });
  }
  const result = await ctx.runMutation(internal.charges.succeed, {
    requestId,
    approved,
  });
  return Response.json(result, { status: 201 });
});

interface Order {
  amount: number;
  card: string;
}

function parseOrder(text: string): Order | null {
  const { amount, card } = parseObject(text);
  const isGood =
    typeof amount === "number" &&
    Number.isInteger(amount) &&
    amount > 0 &&
    typeof card === "string" &&
    card !== "";
  return isGood ? { amount, card } : null;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    return value ?? {};
  } catch {
    return {};
  }
}

/** Null if the bank does not say. */
async function askBank(
  url: string,
  order: Order & { reference: string },
): Promise<boolean | null> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(order),
    });
    const { approved } = parseObject(await response.text());
    const isAnswer = response.status === 200 && typeof approved === "boolean";
    return isAnswer ? approved : null;
  } catch {
    return null;
  }
}

const http = httpRouter();
http.route({ path: "/charges", method: "POST", handler: charge });
export default http;
