import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const PRODUCTS = "/products/";
const ARCHIVE = "/products/archive/";

const http = httpRouter();

http.route({
  path: "/products",
  method: "GET",
  handler: httpAction(async () => Response.json({ route: "list" })),
});

http.route({
  path: "/products",
  method: "POST",
  handler: httpAction(async () =>
    Response.json({ route: "create" }, { status: 201 }),
  ),
});

http.route({
  path: "/products",
  method: "OPTIONS",
  handler: httpAction(async () => {
    const headers = { Allow: "GET, POST, OPTIONS" };
    return new Response(null, { status: 204, headers });
  }),
});

http.route({
  path: "/products/new",
  method: "GET",
  handler: httpAction(async () => Response.json({ route: "form" })),
});

http.route({
  pathPrefix: PRODUCTS,
  method: "GET",
  handler: httpAction(async (_ctx, request) =>
    Response.json({ route: "product", rest: restAfter(PRODUCTS, request) }),
  ),
});

http.route({
  pathPrefix: PRODUCTS,
  method: "DELETE",
  handler: httpAction(async (_ctx, request) =>
    Response.json({ route: "delete", rest: restAfter(PRODUCTS, request) }),
  ),
});

http.route({
  pathPrefix: ARCHIVE,
  method: "GET",
  handler: httpAction(async (_ctx, request) =>
    Response.json({ route: "archive", rest: restAfter(ARCHIVE, request) }),
  ),
});

function restAfter(prefix: string, request: Request): string {
  return new URL(request.url).pathname.slice(prefix.length);
}

export default http;
