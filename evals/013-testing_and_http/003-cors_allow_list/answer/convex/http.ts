import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { forSites, preflight } from "./cors";

const PREFIX = "/notes/";

const list = forSites(async (ctx) => {
  const notes = await ctx.runQuery(internal.notes.list, {});
  const headers = { "X-Total": String(notes.length) };
  return Response.json(notes, { headers });
});

const add = forSites(async (ctx, request) => {
  const text = textOf(await request.text());
  if (text === null) {
    return Response.json({ error: "malformed" }, { status: 400 });
  }
  const number = await ctx.runMutation(internal.notes.add, { text });
  return Response.json({ number }, { status: 201 });
});

function textOf(body: string): string | null {
  try {
    const value = JSON.parse(body) as { text?: unknown } | null;
    return typeof value?.text === "string" ? value.text : null;
  } catch {
    return null;
  }
}

const remove = forSites(async (ctx, request) => {
  const rest = new URL(request.url).pathname.slice(PREFIX.length);
  const number = /^[1-9][0-9]*$/.test(rest) ? Number(rest) : 0;
  const wasThere = await ctx.runMutation(internal.notes.remove, { number });
  return wasThere
    ? Response.json({ deleted: number })
    : Response.json({ error: "not found" }, { status: 404 });
});

const http = httpRouter();
http.route({ path: "/notes", method: "GET", handler: list });
http.route({ path: "/notes", method: "POST", handler: add });
http.route({
  path: "/notes",
  method: "OPTIONS",
  handler: preflight("GET", "POST"),
});
http.route({ pathPrefix: PREFIX, method: "DELETE", handler: remove });
http.route({
  pathPrefix: PREFIX,
  method: "OPTIONS",
  handler: preflight("DELETE"),
});
export default http;
