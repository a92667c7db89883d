// Blob and File, kept in memory.
($) => {
  "use strict";
  let bytesOf;

  const partBytes = (part) => {
    const { isBufferSource, toBytes } = $.use("bytes");
    if (part instanceof Blob) return bytesOf(part);
    if (isBufferSource(part)) return toBytes(part).slice();
    return $.use("encoding").encode(`${part}`);
  };

  const normalizeType = (type) => (/[^\x20-\x7e]/.test(type) ? "" : type.toLowerCase());

  class Blob {
    #bytes;
    #type;
    constructor(parts = [], options = {}) {
      if (typeof parts !== "object" || parts === null || typeof parts[Symbol.iterator] !== "function") {
        throw new TypeError("Blob: the parts must be iterable");
      }
      this.#bytes = $.use("bytes").concat(Array.from(parts, partBytes));
      this.#type = normalizeType(`${options?.type ?? ""}`);
    }
    static {
      bytesOf = (blob) => blob.#bytes;
    }
    get size() {
      return this.#bytes.length;
    }
    get type() {
      return this.#type;
    }
    async arrayBuffer() {
      return this.#bytes.slice().buffer;
    }
    async bytes() {
      return this.#bytes.slice();
    }
    async text() {
      return $.use("encoding").decodeUtf8(this.#bytes);
    }
    slice(start = 0, end = this.size, type = "") {
      return new Blob([this.#bytes.slice(start, end)], { type });
    }
    stream() {
      const bytes = this.#bytes;
      return new ($.use("readable_stream").ReadableStream)({
        type: "bytes",
        start(controller) {
          if (bytes.length > 0) controller.enqueue(bytes.slice());
          controller.close();
        },
      });
    }
    get [Symbol.toStringTag]() {
      return "Blob";
    }
  }

  class File extends Blob {
    #name;
    #lastModified;
    constructor(parts, name, options = {}) {
      if (arguments.length < 2)
        throw new TypeError(`File: 2 arguments required, but only ${arguments.length} present.`);
      super(parts, options);
      this.#name = `${name}`;
      this.#lastModified = Number(options?.lastModified ?? Date.now());
    }
    get name() {
      return this.#name;
    }
    get lastModified() {
      return this.#lastModified;
    }
    get webkitRelativePath() {
      return "";
    }
    get [Symbol.toStringTag]() {
      return "File";
    }
  }

  return { Blob, File, bytesOf };
};
