// What Request and Response share: a body that can be read once, as a stream or as a whole.
($) => {
  "use strict";

  const streamOf = (bytes) =>
    new ($.use("readable_stream").ReadableStream)({
      type: "bytes",
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    });

  /** `{stream | bytes, type}` of anything that may be given as a body. */
  const extract = (body) => {
    const { Blob, bytesOf } = $.use("blob");
    const { isBufferSource, toBytes } = $.use("bytes");
    if (body === null || body === undefined) return { bytes: null, type: null };
    if (typeof body === "object") {
      if (body instanceof $.use("readable_stream").ReadableStream) return { stream: body, type: null };
      if (body instanceof Blob) return { bytes: bytesOf(body), type: body.type || null };
      if (isBufferSource(body)) return { bytes: toBytes(body).slice(), type: null };
      if (body instanceof $.use("form_data").FormData) return $.use("form_data").encodeMultipart(body);
      if (body instanceof $.use("url").URLSearchParams) {
        return {
          bytes: $.use("encoding").encode(body.toString()),
          type: "application/x-www-form-urlencoded;charset=UTF-8",
        };
      }
    }
    return { bytes: $.use("encoding").encode(`${body}`), type: "text/plain;charset=UTF-8" };
  };

  const readAll = async (stream) => {
    const chunks = [];
    const { isBufferSource, toBytes, concat } = $.use("bytes");
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return concat(chunks);
      if (!isBufferSource(value)) throw new TypeError("Received a chunk that is not a Uint8Array");
      chunks.push(toBytes(value));
    }
  };

  class Body {
    #bytes; // while nobody asked for a stream
    #stream;
    #used = false;
    constructor({ stream, bytes = null }) {
      if (stream && (stream.locked || $.use("readable_stream").isDisturbed(stream))) {
        throw new TypeError("Body: the stream is locked or has been read from");
      }
      this.#bytes = bytes;
      this.#stream = stream;
    }
    get body() {
      if (this.#stream === undefined && this.#bytes !== null) this.#stream = streamOf(this.#bytes);
      return this.#stream ?? null;
    }
    get bodyUsed() {
      return this.#used || (this.#stream !== undefined && $.use("readable_stream").isDisturbed(this.#stream));
    }
    async bytes() {
      if (this.bodyUsed || this.#stream?.locked) throw new TypeError("Body has already been consumed.");
      if (this.#stream === undefined) {
        if (this.#bytes === null) return new Uint8Array(0);
        this.#used = true;
        return this.#bytes.slice();
      }
      this.#used = true;
      return await readAll(this.#stream);
    }
    async arrayBuffer() {
      return (await this.bytes()).buffer;
    }
    async blob() {
      return new ($.use("blob").Blob)([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
    }
    async text() {
      return $.use("encoding").decodeUtf8(await this.bytes());
    }
    async json() {
      return JSON.parse(await this.text());
    }
    async formData() {
      $.requireAction("formData()");
      return $.use("form_data").decodeForm(await this.bytes(), this.headers.get("content-type"));
    }

    /** For clone(): the same body twice. */
    static share(own) {
      if (own.bodyUsed || own.#stream?.locked) throw new TypeError("Body has already been consumed.");
      if (own.#stream === undefined) return { bytes: own.#bytes };
      const [first, second] = own.#stream.tee();
      own.#stream = first;
      return { stream: second };
    }
  }
  const { share } = Body;
  delete Body.share;

  return { Body, extract, share };
};
