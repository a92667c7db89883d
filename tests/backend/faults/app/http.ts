import { httpActionGeneric as httpAction, httpRouter } from "convex/server";

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const http = httpRouter();

http.route({
  path: "/never",
  method: "GET",
  handler: httpAction(async () => {
    console.log("waiting");
    await sleep(600_000);
    return new Response("never");
  }),
});

http.route({
  path: "/halfway",
  method: "GET",
  handler: httpAction(async () => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
        await sleep(600_000);
        controller.close();
      },
    });
    return new Response(body);
  }),
});

export default http;
