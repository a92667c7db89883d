import { httpRouter } from "convex/server";
import { api } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/notes",
  method: "GET",
  handler: httpAction(async (ctx) => Response.json(await ctx.runQuery(api.public.list, {}))),
});

http.route({
  pathPrefix: "/echo/",
  method: "POST",
  handler: httpAction(async (ctx, request) =>
    Response.json({
      path: new URL(request.url).pathname,
      body: await request.text(),
      user: (await ctx.auth.getUserIdentity())?.subject ?? null,
    }),
  ),
});

export default http;
