import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { api, internal } from "./_generated/api";
import { env, httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/links",
  method: "GET",
  handler: httpAction(async (ctx) => {
    return Response.json(await ctx.runQuery(internal.links.list, {}));
  }),
});

http.route({
  path: "/links",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const link = readLink(await request.text());
    if (link === null) return Response.json(null, { status: 400 });
    try {
      const url = await ctx.runMutation(api.links.add, link);
      return Response.json({ url }, { status: 201 });
    } catch (error) {
      if (!(error instanceof ConvexError)) throw error;
      const { code } = error.data as { code: string };
      return Response.json(null, { status: code === "TAKEN" ? 409 : 400 });
    }
  }),
});

http.route({
  pathPrefix: "/to/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    // The request has the whole path, with that of the mount.
    const base = new URL(`${env.CONVEX_SITE_URL}/to/`).pathname;
    const name = new URL(request.url).pathname.slice(base.length);
    const target = await ctx.runMutation(internal.links.visit, { name });
    if (target === null) return new Response("No such link", { status: 404 });
    return new Response(null, { status: 302, headers: { Location: target } });
  }),
});

function readLink(text: string): { name: string; target: string } | null {
  try {
    const body = JSON.parse(text) as Record<string, unknown> | null;
    const { name, target } = body ?? {};
    return typeof name === "string" && typeof target === "string"
      ? { name, target }
      : null;
  } catch {
    return null;
  }
}

export default http;
