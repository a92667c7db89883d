// ReadableStream with its default and byte controllers, and both readers.
($) => {
  "use strict";
  const KEY = Symbol(); // constructors that only this file may call
  const guard = (key) => {
    if (key !== KEY) throw new TypeError("Illegal constructor");
  };
  const withResolvers = () => {
    const deferred = Promise.withResolvers();
    deferred.promise.catch(() => {}); // rejections of `closed` are nobody's fault
    return deferred;
  };
  const sourceOf = new WeakMap(); // ReadableStream → Source

  /** The state behind one stream: its queue, and the promises of those who wait for chunks. */
  class Source {
    state = "readable";
    error = undefined;
    queue = [];
    queued = 0;
    closing = false;
    started = false;
    pulling = false;
    pullAgain = false;
    waiting = []; // {deferred, view?} of pending reads
    reader = undefined;
    disturbed = false;

    constructor(underlying, strategy, isBytes) {
      this.underlying = underlying;
      this.isBytes = isBytes;
      this.highWaterMark = strategy?.highWaterMark === undefined ? (isBytes ? 0 : 1) : Number(strategy.highWaterMark);
      if (Number.isNaN(this.highWaterMark) || this.highWaterMark < 0) throw new RangeError("Invalid highWaterMark");
      this.sizeOf = isBytes ? (chunk) => chunk.byteLength : (strategy?.size ?? (() => 1));
      this.controller = isBytes
        ? new ReadableByteStreamController(KEY, this)
        : new ReadableStreamDefaultController(KEY, this);
    }

    start() {
      const result = this.underlying.start?.(this.controller);
      Promise.resolve(result).then(
        () => {
          this.started = true;
          this.pullIfWanted();
        },
        (error) => this.fail(error),
      );
    }

    get desiredSize() {
      if (this.state === "errored") return null;
      return this.state === "closed" ? 0 : this.highWaterMark - this.queued;
    }

    enqueue(chunk) {
      if (this.closing || this.state !== "readable")
        throw new TypeError("Cannot enqueue a chunk: the stream is closing or closed");
      const size = Number(this.sizeOf(chunk));
      if (!this.isBytes && this.waiting.length > 0)
        this.waiting.shift().deferred.resolve({ value: chunk, done: false });
      else {
        this.queue.push({ chunk, size });
        this.queued += size;
        while (this.waiting.length > 0 && this.queue.length > 0) this.serve(this.waiting.shift());
      }
      this.pullIfWanted();
    }

    take() {
      const { chunk, size } = this.queue.shift();
      this.queued -= size;
      this.finishIfDrained();
      return chunk;
    }

    /** Fills the view of a BYOB read with as many queued bytes as fit. */
    takeInto(view) {
      const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      let filled = 0;
      while (filled < target.length && this.queue.length > 0) {
        const chunk = $.use("bytes").toBytes(this.queue[0].chunk);
        const part = chunk.subarray(0, target.length - filled);
        target.set(part, filled);
        filled += part.length;
        this.queued -= part.length;
        if (part.length === chunk.length) this.queue.shift();
        else this.queue[0] = { chunk: chunk.subarray(part.length), size: chunk.length - part.length };
      }
      this.finishIfDrained();
      return new view.constructor(view.buffer, view.byteOffset, Math.floor(filled / (view.BYTES_PER_ELEMENT ?? 1)));
    }

    finishIfDrained() {
      if (this.closing && this.queue.length === 0) this.finish();
      else this.pullIfWanted();
    }

    serve({ deferred, view }) {
      deferred.resolve({ value: view ? this.takeInto(view) : this.take(), done: false });
    }

    read(view) {
      this.disturbed = true;
      if (this.state === "errored") return Promise.reject(this.error);
      const deferred = Promise.withResolvers();
      if (this.queue.length > 0) this.serve({ deferred, view });
      else if (this.state === "closed")
        deferred.resolve({ value: view && new view.constructor(view.buffer, view.byteOffset, 0), done: true });
      else {
        this.waiting.push({ deferred, view });
        this.pullIfWanted();
      }
      return deferred.promise;
    }

    pullIfWanted() {
      if (!this.started || this.closing || this.state !== "readable" || !this.underlying.pull) return;
      if (this.waiting.length === 0 && this.desiredSize <= 0) return;
      if (this.pulling) {
        this.pullAgain = true;
        return;
      }
      this.pulling = true;
      Promise.resolve()
        .then(() => this.underlying.pull(this.controller))
        .then(
          () => {
            this.pulling = false;
            if (this.pullAgain) {
              this.pullAgain = false;
              this.pullIfWanted();
            }
          },
          (error) => this.fail(error),
        );
    }

    close() {
      if (this.closing || this.state !== "readable")
        throw new TypeError("Cannot close a stream that is closing or closed");
      this.closing = true;
      if (this.queue.length === 0) this.finish();
    }

    finish() {
      this.state = "closed";
      for (const { deferred, view } of this.waiting.splice(0)) {
        deferred.resolve({ value: view && new view.constructor(view.buffer, view.byteOffset, 0), done: true });
      }
      this.reader?.closedBySource();
    }

    fail(error) {
      if (this.state !== "readable") return;
      this.state = "errored";
      this.error = error;
      this.queue = [];
      this.queued = 0;
      for (const { deferred } of this.waiting.splice(0)) deferred.reject(error);
      this.reader?.failedBySource(error);
    }

    async cancel(reason) {
      this.disturbed = true;
      if (this.state === "closed") return;
      if (this.state === "errored") throw this.error;
      this.queue = [];
      this.queued = 0;
      this.finish();
      await this.underlying.cancel?.(reason);
    }
  }

  class ReadableStreamDefaultController {
    #source;
    constructor(key, source) {
      guard(key);
      this.#source = source;
    }
    get desiredSize() {
      return this.#source.desiredSize;
    }
    enqueue(chunk = undefined) {
      this.#source.enqueue(chunk);
    }
    close() {
      this.#source.close();
    }
    error(reason = undefined) {
      this.#source.fail(reason);
    }
  }

  class ReadableByteStreamController {
    #source;
    constructor(key, source) {
      guard(key);
      this.#source = source;
    }
    get desiredSize() {
      return this.#source.desiredSize;
    }
    get byobRequest() {
      const waiting = this.#source.waiting[0];
      return waiting?.view ? new ReadableStreamBYOBRequest(KEY, this.#source, waiting.view) : null;
    }
    enqueue(chunk) {
      if (!ArrayBuffer.isView(chunk)) throw new TypeError("The chunk of a byte stream must be an ArrayBufferView");
      if (chunk.byteLength === 0) throw new TypeError("The chunk of a byte stream must not be empty");
      this.#source.enqueue(chunk);
    }
    close() {
      this.#source.close();
    }
    error(reason = undefined) {
      this.#source.fail(reason);
    }
  }

  class ReadableStreamBYOBRequest {
    #source;
    #view;
    constructor(key, source, view) {
      guard(key);
      this.#source = source;
      this.#view = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    }
    get view() {
      return this.#view;
    }
    respond(bytesWritten) {
      this.respondWithNewView(this.#view.subarray(0, bytesWritten));
    }
    respondWithNewView(view) {
      if (view.byteLength === 0) return;
      this.#source.enqueue(new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice());
    }
  }

  class Reader {
    #stream;
    #source;
    #closed = withResolvers();
    constructor(stream) {
      const source = sourceOf.get(stream);
      if (source === undefined) throw new TypeError("A reader needs a ReadableStream");
      if (source.reader)
        throw new TypeError("This stream has already been locked for exclusive reading by another reader");
      this.#stream = stream;
      this.#source = source;
      source.reader = {
        closedBySource: () => this.#closed.resolve(undefined),
        failedBySource: (error) => this.#closed.reject(error),
      };
      if (source.state === "closed") this.#closed.resolve(undefined);
      if (source.state === "errored") this.#closed.reject(source.error);
    }
    get closed() {
      return this.#closed.promise;
    }
    cancel(reason = undefined) {
      if (!this.#stream) return Promise.reject(new TypeError("This reader has been released"));
      return this.#source.cancel(reason);
    }
    releaseLock() {
      if (!this.#stream) return;
      const released = new TypeError("The reader was released");
      for (const { deferred } of this.#source.waiting.splice(0)) deferred.reject(released);
      this.#source.reader = undefined;
      this.#stream = undefined;
      this.#closed.reject(released);
      this.#closed = withResolvers();
      this.#closed.reject(released);
    }
    readFrom(view) {
      if (!this.#stream) return Promise.reject(new TypeError("This reader has been released"));
      return this.#source.read(view);
    }
    get isBytes() {
      return this.#source.isBytes;
    }
  }
  const { readFrom } = Reader.prototype;
  delete Reader.prototype.readFrom;
  const isBytesReader = Object.getOwnPropertyDescriptor(Reader.prototype, "isBytes").get;
  delete Reader.prototype.isBytes;

  class ReadableStreamDefaultReader extends Reader {
    read() {
      return readFrom.call(this, undefined);
    }
    get [Symbol.toStringTag]() {
      return "ReadableStreamDefaultReader";
    }
  }

  class ReadableStreamBYOBReader extends Reader {
    constructor(stream) {
      super(stream);
      if (!isBytesReader.call(this)) throw new TypeError("A BYOB reader needs a byte stream");
    }
    read(view) {
      if (!ArrayBuffer.isView(view)) return Promise.reject(new TypeError("read() needs an ArrayBufferView"));
      if (view.byteLength === 0) return Promise.reject(new TypeError("The view must not be empty"));
      const { constructor, byteOffset, byteLength, length = byteLength } = view; // gone once the buffer is transferred
      return readFrom.call(this, new constructor(view.buffer.transfer(), byteOffset, length));
    }
    get [Symbol.toStringTag]() {
      return "ReadableStreamBYOBReader";
    }
  }

  class ReadableStream {
    constructor(underlying = {}, strategy = {}) {
      const own = underlying ?? {};
      if (own.type !== undefined && `${own.type}` !== "bytes") throw new TypeError(`Invalid stream type: ${own.type}`);
      const source = new Source(own, strategy, own.type !== undefined);
      sourceOf.set(this, source);
      source.start();
    }
    get locked() {
      return sourceOf.get(this).reader !== undefined;
    }
    cancel(reason = undefined) {
      if (this.locked) return Promise.reject(new TypeError("Cannot cancel a locked stream"));
      return sourceOf.get(this).cancel(reason);
    }
    getReader(options = {}) {
      if (options?.mode === "byob") return new ReadableStreamBYOBReader(this);
      return new ReadableStreamDefaultReader(this);
    }
    pipeThrough({ readable, writable }, options = {}) {
      this.pipeTo(writable, options).catch(() => {});
      return readable;
    }
    pipeTo(destination, options = {}) {
      return $.use("pipe").pipeTo(this, destination, options ?? {});
    }
    tee() {
      return $.use("pipe").tee(this, ReadableStream);
    }
    async *values({ preventCancel = false } = {}) {
      const reader = this.getReader();
      let ended = false;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          ended = done;
          if (done) return;
          yield value;
        }
      } finally {
        if (!ended && !preventCancel) reader.cancel().catch(() => {});
        reader.releaseLock();
      }
    }
    [Symbol.asyncIterator](options) {
      return this.values(options);
    }
    static from(iterable) {
      const iterator = iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]();
      return new ReadableStream(
        {
          async pull(controller) {
            const { done, value } = await iterator.next();
            if (done) controller.close();
            else controller.enqueue(await value);
          },
          async cancel(reason) {
            await iterator.return?.(reason);
          },
        },
        { highWaterMark: 0 },
      );
    }
    get [Symbol.toStringTag]() {
      return "ReadableStream";
    }
  }

  return {
    ReadableStream,
    ReadableStreamDefaultReader,
    ReadableStreamBYOBReader,
    isDisturbed: (stream) => sourceOf.get(stream).disturbed,
  };
};
