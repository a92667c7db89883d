import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/echo",
  method: "POST",
  handler: httpAction(async (_, request) => {
    const body = await request.text();
    return new Response(JSON.stringify({ body, query: new URL(request.url).search }), {
      status: 201,
      headers: { "Content-Type": "application/json", "X-Kind": request.headers.get("content-type") ?? "none" },
    });
  }),
});
http.route({
  pathPrefix: "/files/",
  method: "GET",
  handler: httpAction(async () => new Response("a file")),
});

export default http;
