import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();
const answer = (text: string) => httpAction(async () => new Response(text));

http.route({
  path: "/exact",
  method: "GET",
  handler: httpAction(async () => new Response("made", { status: 201, headers: { "x-made-by": "convex" } })),
});
http.route({ pathPrefix: "/prefix/", method: "GET", handler: answer("short prefix") });
http.route({ pathPrefix: "/prefix/longer/", method: "GET", handler: answer("long prefix") });
http.route({ path: "/prefix/longer/exact", method: "GET", handler: answer("exact") });
http.route({
  path: "/throws",
  method: "GET",
  handler: httpAction(async () => {
    throw new Error("http boom");
  }),
});
http.route({ path: "/not-a-response", method: "GET", handler: httpAction(async () => "text" as never) });
http.route({
  path: "/stream",
  method: "GET",
  handler: httpAction(async () => {
    const stream = new ReadableStream({
      async start(controller) {
        for (const part of ["one", "two", "three"]) {
          controller.enqueue(new TextEncoder().encode(part));
          await new Promise((resolve) => setTimeout(resolve, 400));
        }
        controller.close();
      },
    });
    return new Response(stream);
  }),
});
http.route({
  path: "/echo",
  method: "POST",
  handler: httpAction(async (_ctx, request) => {
    const blob = await request.blob();
    return new Response(blob, { headers: { "content-type": request.headers.get("content-type") ?? "none" } });
  }),
});
http.route({
  path: "/bodies",
  method: "POST",
  handler: httpAction(async (_ctx, request) => {
    switch (new URL(request.url).searchParams.get("as")) {
      case "json":
        return Response.json(await request.json());
      case "form": {
        const form = await request.formData();
        return Response.json(Object.fromEntries([...form.keys()].map((key) => [key, String(form.get(key))])));
      }
      default:
        return new Response((await request.text()).toUpperCase());
    }
  }),
});
http.route({
  path: "/whoami",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    if (new URL(request.url).searchParams.get("look") === "no") return new Response("did not look");
    return Response.json((await ctx.auth.getUserIdentity())?.subject ?? null);
  }),
});

export default http;
