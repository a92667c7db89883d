// What HTTP actions are told, and every way they can answer.
import { ConvexError } from "convex/values";
import { httpActionGeneric, httpRouter } from "convex/server";

type Handler = Parameters<typeof httpActionGeneric>[0];

const http = httpRouter();
const route = (method: string, path: string, handler: Handler) =>
  http.route({ method, path, handler: httpActionGeneric(handler) } as never);
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const bytes = (size: number) => new Uint8Array(size).fill(97);

const describe: Handler = async (_ctx, request) =>
  Response.json({
    method: request.method,
    url: request.url,
    headers: [...request.headers],
    body: request.body === null ? null : await request.text(),
  });

for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) route(method, "/describe", describe);

route("GET", "/", async () => new Response("root"));

route("GET", "/answer", async () => {
  const headers = new Headers({ "x-one": "1", "content-type": "text/x-own" });
  headers.append("set-cookie", "a=1; Path=/");
  headers.append("set-cookie", "b=2");
  return new Response("teapot", { status: 418, headers });
});

route("GET", "/text", async () => new Response("plain"));
route("GET", "/empty", async () => new Response(null, { status: 204 }));
route("GET", "/redirect", async () => new Response(null, { status: 302, headers: { location: "/text" } }));
route("GET", "/declared", async () => new Response("12345", { headers: { "content-length": "5" } }));
route("GET", "/short", async () => new Response("123", { headers: { "content-length": "5" } }));
route("GET", "/long", async () => new Response("1234567", { headers: { "content-length": "5" } }));
route("GET", "/forwarded", async () => new Response("hop", { headers: { "transfer-encoding": "chunked", connection: "close" } }));

route("POST", "/echo", async (_ctx, request) => new Response(await request.arrayBuffer()));
route("POST", "/length", async (_ctx, request) => Response.json((await request.arrayBuffer()).byteLength));
route("POST", "/unread", async () => new Response("did not look"));
route("POST", "/duplex", async (_ctx, request) => new Response(request.body));

route("GET", "/throws", async () => {
  throw new Error("boom");
});
route("GET", "/refuses", async () => {
  throw new ConvexError({ reason: "no", count: 1 });
});
route("GET", "/nothing", async () => undefined as never);
route("GET", "/late", async () => {
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(bytes(3));
      await sleep(20);
      throw new Error("too late");
    },
  });
  return new Response(body);
});

route("GET", "/huge", async () => {
  let left = 25;
  const body = new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(bytes(1024 * 1024));
      else controller.close();
    },
  });
  return new Response(body);
});

route("GET", "/endless", async (ctx, request) => {
  request.signal.addEventListener("abort", () => console.log("aborted"));
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(bytes(3));
      await sleep(20);
    },
  });
  return new Response(body);
});

route("GET", "/waits", async (ctx, request) => {
  console.log("waiting");
  await new Promise((resolve) => {
    if (request.signal.aborted) resolve(null);
    request.signal.addEventListener("abort", resolve);
  });
  console.log("aborted");
  return new Response("nobody is there");
});

route("GET", "/whoami", async (ctx) => Response.json(await ctx.auth.getUserIdentity()));
route("GET", "/anyone", async () => new Response("welcome"));

route("POST", "/store", async (ctx, request) => {
  const id = await ctx.storage.store(await request.blob());
  return Response.json({ id, url: await ctx.storage.getUrl(id) });
});
route("GET", "/stored", async (ctx, request) => {
  const blob = await ctx.storage.get(new URL(request.url).searchParams.get("id")!);
  return blob === null ? new Response(null, { status: 404 }) : new Response(blob);
});

http.route({ method: "GET", pathPrefix: "/files/", handler: httpActionGeneric(async (_ctx, request) => new Response(new URL(request.url).pathname)) });

export default http;
