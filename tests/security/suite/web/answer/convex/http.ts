import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/shout",
  method: "POST",
  handler: httpAction(async (_ctx, request) => new Response((await request.text()).toUpperCase())),
});

http.route({
  path: "/health",
  method: "GET",
  handler: httpAction(async () => Response.json({ ok: true })),
});

export default http;
