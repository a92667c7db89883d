import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({
  path: "/hello",
  method: "GET",
  handler: httpAction(async (_ctx, request) => {
    const name = new URL(request.url).searchParams.get("name") ?? "nobody";
    await Promise.resolve();
    return new Response(`Hello ${name}`);
  }),
});
export default http;
