import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/status",
  method: "GET",
  handler: httpAction(async () => new Response("ok")),
});

http.route({
  pathPrefix: "/to/",
  method: "GET",
  handler: httpAction(async (_ctx, request) => {
    const { pathname } = new URL(request.url);
    return new Response("app " + pathname.slice("/to/".length));
  }),
});

export default http;
