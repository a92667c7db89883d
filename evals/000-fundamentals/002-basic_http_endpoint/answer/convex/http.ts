import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/signups",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const email = await readEmail(request);
    if (email === null) {
      return json({ error: "email is required" }, 400);
    }
    const id = await ctx.runMutation(internal.signups.add, { email });
    return json({ id }, 201);
  }),
});

http.route({
  path: "/signups",
  method: "GET",
  handler: httpAction(async (ctx) => {
    const emails = await ctx.runQuery(internal.signups.emails, {});
    return json({ emails }, 200);
  }),
});

async function readEmail(request: Request): Promise<string | null> {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return null;
  }
  if (typeof body !== "object" || body === null || !("email" in body)) {
    return null;
  }
  const { email } = body;
  return typeof email === "string" && email !== "" ? email : null;
}

function json(value: unknown, status: number): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json" },
  });
}

export default http;
