// Requests and responses of HTTP actions. Bodies stream through the worker in both directions.
($) => {
  "use strict";
  const { host } = $;
  const responses = { __proto__: null };
  let lastResponse = 0;
  let abortController;

  const incomingBody = () => {
    const { ReadableStream } = $.use("readable_stream");
    return new ReadableStream(
      {
        async pull(controller) {
          const { value, bytes } = await $.use("pending").operation("request.read", {});
          if (value.done) controller.close();
          else controller.enqueue(bytes);
        },
      },
      { highWaterMark: 0 },
    );
  };

  const sendBody = async (body) => {
    const reader = body.getReader();
    const { toBytes } = $.use("bytes");
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (host.isRequestAborted()) return void reader.cancel().catch(() => {});
      await $.use("pending").operation("response.write", {}, toBytes(value));
    }
  };

  return {
    abortRequest: () => abortController?.abort(),

    request({ convexJson }) {
      const { AbortController } = $.use("abort");
      const { Request } = $.use("fetch");
      abortController = new AbortController();
      if (host.isRequestAborted()) abortController.abort();
      return new Request(convexJson.url, {
        method: convexJson.method,
        headers: convexJson.headerPairs,
        body: convexJson.streamId === null ? null : incomingBody(),
        duplex: "half",
        signal: abortController.signal,
      });
    },

    response({ response }) {
      const { Response } = $.use("fetch");
      if (!(response instanceof Response)) throw new Error("HTTP actions must return a Response");
      responses[++lastResponse] = response;
      return {
        status: response.status,
        headerPairs: [...response.headers],
        streamId: response.body === null ? null : lastResponse,
      };
    },

    notFound() {
      host.respond(404, JSON.stringify([["content-type", "text/plain; charset=utf-8"]]));
      const { TextEncoder } = $.use("encoding");
      return $.use("pending").operation("response.write", {}, new TextEncoder().encode("No matching routes found"));
    },

    async send(text) {
      const { status, headerPairs, streamId } = JSON.parse(text);
      host.respond(status, JSON.stringify(headerPairs));
      const body = responses[streamId]?.body;
      if (streamId !== null && body) await sendBody(body);
    },
  };
};
