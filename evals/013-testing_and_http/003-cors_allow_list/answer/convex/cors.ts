import { internal } from "./_generated/api";
import { httpAction, type ActionCtx } from "./_generated/server";

const REQUEST_HEADERS = ["content-type", "x-request-id"];

type Handler = (ctx: ActionCtx, request: Request) => Promise<Response>;

/** A handler for requests of allowed origins and of none, whose responses say so. */
export function forSites(handler: Handler) {
  return httpAction(async (ctx, request) => {
    const origin = request.headers.get("Origin");
    const headers = await corsHeaders(ctx, origin);
    const response =
      origin !== null && headers === null
        ? Response.json({ error: "origin" }, { status: 403 })
        : await handler(ctx, request);
    response.headers.set("Vary", "Origin");
    for (const [name, value] of Object.entries(headers ?? {})) {
      response.headers.set(name, value);
    }
    return response;
  });
}

export function preflight(...methods: string[]) {
  return httpAction(async (ctx, request) => {
    const headers = await corsHeaders(ctx, request.headers.get("Origin"));
    const Vary =
      "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
    const method = request.headers.get("Access-Control-Request-Method") ?? "";
    if (
      headers === null ||
      !methods.includes(method) ||
      !requestedHeaders(request).every((name) => REQUEST_HEADERS.includes(name))
    ) {
      return new Response(null, { status: 403, headers: { Vary } });
    }
    return new Response(null, {
      status: 204,
      headers: {
        ...headers,
        Vary,
        "Access-Control-Allow-Methods": methods.join(", "),
        "Access-Control-Allow-Headers": REQUEST_HEADERS.join(", "),
        "Access-Control-Max-Age": "600",
      },
    });
  });
}

function requestedHeaders(request: Request): string[] {
  const header = request.headers.get("Access-Control-Request-Headers") ?? "";
  return header
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}

/** Null if there is no origin, or one that is not allowed. */
async function corsHeaders(
  ctx: ActionCtx,
  origin: string | null,
): Promise<Record<string, string> | null> {
  if (origin === null) {
    return null;
  }
  const found = await ctx.runQuery(internal.sites.permission, { origin });
  if (!found.allowed) {
    return null;
  }
  const headers: Record<string, string> = {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "X-Total",
  };
  if (found.credentials) {
    headers["Access-Control-Allow-Credentials"] = "true";
  }
  return headers;
}
