import { httpRouter } from "convex/server";
import { httpAction } from "./server";

const http = httpRouter();

http.route({
  path: "/echo",
  method: "POST",
  handler: httpAction(async (_, request) => {
    const body = await request.arrayBuffer();
    return new Response(body, { status: 201, headers: { "x-method": request.method, "x-url": request.url } });
  }),
});

http.route({
  path: "/stream",
  method: "GET",
  handler: httpAction(async (_, request) => {
    let count = 0;
    const stream = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(new TextEncoder().encode(`chunk ${count}\n`));
        if (++count === 3) controller.close();
      },
    });
    return new Response(stream, { headers: { "x-body": String(request.body) } });
  }),
});

http.route({
  path: "/form",
  method: "POST",
  handler: httpAction(async (_, request) => {
    const form = await request.formData();
    const file = form.get("file") as File;
    return Response.json({ name: form.get("name"), file: file.name, type: file.type, text: await file.text() });
  }),
});

http.route({
  path: "/aborted",
  method: "GET",
  handler: httpAction(async (_, request) => {
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    console.log("client is gone");
    return new Response(null);
  }),
});

http.route({
  path: "/throw",
  method: "GET",
  handler: httpAction(async () => {
    throw new Error("http boom");
  }),
});

http.route({
  path: "/nothing",
  method: "GET",
  handler: httpAction(async () => "text" as unknown as Response),
});

http.route({
  pathPrefix: "/files/",
  method: "GET",
  handler: httpAction(async (_, request) => new Response(new URL(request.url).pathname)),
});

export default http;
