import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { hashOf } from "./secrets";

const STATUSES = { unauthorized: 401, forbidden: 403, malformed: 400 };

const read = httpAction(async (ctx, request) => {
  const hash = await hashOf(secretOf(request));
  const result = await ctx.runMutation(internal.notes.read, { hash });
  return typeof result === "string" ? refusal(result) : Response.json(result);
});

const write = httpAction(async (ctx, request) => {
  const hash = await hashOf(secretOf(request));
  const text = await textOf(request);
  const result = await ctx.runMutation(internal.notes.write, { hash, text });
  return typeof result === "string"
    ? refusal(result)
    : Response.json({ count: result }, { status: 201 });
});

/** Empty, which is nobody's secret, if there is none. */
function secretOf(request: Request): string {
  const header = request.headers.get("Authorization") ?? "";
  return /^bearer (.+)$/i.exec(header)?.[1] ?? "";
}

async function textOf(request: Request): Promise<string | null> {
  try {
    const body = (await request.json()) as { text?: unknown } | null;
    const text = body?.text;
    return typeof text === "string" && text !== "" ? text : null;
  } catch {
    return null;
  }
}

function refusal(error: keyof typeof STATUSES): Response {
  const headers: Record<string, string> =
    error === "unauthorized" ? { "WWW-Authenticate": "Bearer" } : {};
  return Response.json({ error }, { status: STATUSES[error], headers });
}

const http = httpRouter();
http.route({ path: "/notes", method: "GET", handler: read });
http.route({ path: "/notes", method: "POST", handler: write });
export default http;
