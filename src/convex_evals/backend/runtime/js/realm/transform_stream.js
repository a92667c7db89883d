// TransformStream and the two text streams built on it.
($) => {
  "use strict";
  const { ReadableStream } = $.use("readable_stream");
  const { WritableStream } = $.use("writable_stream");

  class TransformStream {
    #readable;
    #writable;
    constructor(transformer = {}, writableStrategy = {}, readableStrategy = { highWaterMark: 0 }) {
      const own = transformer ?? {};
      let output; // controller of the readable side
      let input; // controller of the writable side
      let wanted = Promise.withResolvers(); // resolved while the reader has room

      const controller = {
        get desiredSize() {
          return output.desiredSize;
        },
        enqueue(chunk) {
          wanted = Promise.withResolvers();
          output.enqueue(chunk);
        },
        error(reason) {
          output.error(reason);
          input.error(reason);
        },
        terminate() {
          output.close();
          input.error(new TypeError("The transform stream has been terminated"));
        },
      };

      this.#readable = new ReadableStream(
        {
          start(created) {
            output = created;
          },
          pull: () => wanted.resolve(undefined),
          async cancel(reason) {
            await own.cancel?.(reason);
            input.error(reason);
          },
        },
        readableStrategy,
      );
      this.#writable = new WritableStream(
        {
          start(created) {
            input = created;
            return own.start?.(controller);
          },
          async write(chunk) {
            if (output.desiredSize !== null && output.desiredSize <= 0) await wanted.promise;
            try {
              await (own.transform ? own.transform(chunk, controller) : controller.enqueue(chunk));
            } catch (error) {
              output.error(error);
              throw error;
            }
          },
          async close() {
            try {
              await own.flush?.(controller);
              output.close();
            } catch (error) {
              output.error(error);
              throw error;
            }
          },
          async abort(reason) {
            output.error(reason);
            await own.cancel?.(reason);
          },
        },
        writableStrategy,
      );
    }
    get readable() {
      return this.#readable;
    }
    get writable() {
      return this.#writable;
    }
    get [Symbol.toStringTag]() {
      return "TransformStream";
    }
  }

  class TextEncoderStream {
    #transform = new TransformStream({
      transform: (chunk, controller) => {
        const bytes = $.use("encoding").encode(`${chunk}`);
        if (bytes.length > 0) controller.enqueue(bytes);
      },
    });
    get encoding() {
      return "utf-8";
    }
    get readable() {
      return this.#transform.readable;
    }
    get writable() {
      return this.#transform.writable;
    }
    get [Symbol.toStringTag]() {
      return "TextEncoderStream";
    }
  }

  class TextDecoderStream {
    #decoder;
    #transform;
    constructor(label = "utf-8", options = {}) {
      this.#decoder = new ($.use("encoding").TextDecoder)(label, options);
      const emit = (text, controller) => {
        if (text !== "") controller.enqueue(text);
      };
      this.#transform = new TransformStream({
        transform: (chunk, controller) => emit(this.#decoder.decode(chunk, { stream: true }), controller),
        flush: (controller) => emit(this.#decoder.decode(), controller),
      });
    }
    get encoding() {
      return this.#decoder.encoding;
    }
    get fatal() {
      return this.#decoder.fatal;
    }
    get ignoreBOM() {
      return this.#decoder.ignoreBOM;
    }
    get readable() {
      return this.#transform.readable;
    }
    get writable() {
      return this.#transform.writable;
    }
    get [Symbol.toStringTag]() {
      return "TextDecoderStream";
    }
  }

  return { TransformStream, TextEncoderStream, TextDecoderStream };
};
