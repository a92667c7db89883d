// WritableStream and its writer.
($) => {
  "use strict";
  const KEY = Symbol();
  const sinkOf = new WeakMap(); // WritableStream → Sink
  const quiet = (promise) => {
    promise.catch(() => {});
    return promise;
  };
  const pendingPromise = () => {
    const deferred = Promise.withResolvers();
    quiet(deferred.promise);
    return deferred;
  };

  /** The state behind one stream: writes run one after the other. */
  class Sink {
    state = "writable"; // "closed", "errored"
    error = undefined;
    closing = false;
    queued = 0;
    writer = undefined;
    closed = pendingPromise();
    ready = pendingPromise();

    constructor(underlying, strategy) {
      this.underlying = underlying;
      this.highWaterMark = strategy?.highWaterMark === undefined ? 1 : Number(strategy.highWaterMark);
      this.sizeOf = strategy?.size ?? (() => 1);
      this.abort = new ($.use("abort").AbortController)();
      this.controller = new WritableStreamDefaultController(KEY, this);
      this.tail = quiet(Promise.resolve(underlying.start?.(this.controller)));
      this.tail.catch((error) => this.fail(error));
      this.updateReady();
    }

    get desiredSize() {
      if (this.state === "errored") return null;
      return this.state === "closed" ? 0 : this.highWaterMark - this.queued;
    }

    updateReady() {
      if (this.desiredSize > 0) this.ready.resolve(undefined);
      else this.ready = pendingPromise();
    }

    write(chunk) {
      if (this.state === "errored") return Promise.reject(this.error);
      if (this.closing || this.state === "closed")
        return Promise.reject(new TypeError("Cannot write to a stream that is closing or closed"));
      const size = Number(this.sizeOf(chunk));
      this.queued += size;
      this.updateReady();
      return this.enqueue(async () => {
        await this.underlying.write?.(chunk, this.controller);
        this.queued -= size;
        this.updateReady();
      });
    }

    enqueue(step) {
      const done = this.tail.then(() => {
        if (this.state === "errored") throw this.error;
        return step();
      });
      this.tail = quiet(done);
      done.catch((error) => this.fail(error));
      return quiet(done);
    }

    close() {
      if (this.closing || this.state !== "writable")
        return Promise.reject(new TypeError("Cannot close a stream that is closing or closed"));
      this.closing = true;
      return this.enqueue(async () => {
        await this.underlying.close?.();
        this.state = "closed";
        this.closed.resolve(undefined);
        this.ready.resolve(undefined);
      });
    }

    fail(error) {
      if (this.state !== "writable") return;
      this.state = "errored";
      this.error = error;
      this.closed.reject(error);
      this.ready = pendingPromise();
      this.ready.reject(error);
    }

    async abortWith(reason) {
      if (this.state !== "writable") return;
      this.fail(reason);
      this.abort.abort(reason);
      await this.underlying.abort?.(reason);
    }
  }

  class WritableStreamDefaultController {
    #sink;
    constructor(key, sink) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      this.#sink = sink;
    }
    get signal() {
      return this.#sink.abort.signal;
    }
    error(reason = undefined) {
      this.#sink.fail(reason);
    }
  }

  class WritableStreamDefaultWriter {
    #sink;
    constructor(stream) {
      const sink = sinkOf.get(stream);
      if (sink === undefined) throw new TypeError("A writer needs a WritableStream");
      if (sink.writer)
        throw new TypeError("This stream has already been locked for exclusive writing by another writer");
      this.#sink = sink;
      sink.writer = this;
    }
    #requireSink() {
      if (!this.#sink) throw new TypeError("This writer has been released");
      return this.#sink;
    }
    get closed() {
      return this.#sink?.closed.promise ?? quiet(Promise.reject(new TypeError("This writer has been released")));
    }
    get ready() {
      return this.#sink?.ready.promise ?? quiet(Promise.reject(new TypeError("This writer has been released")));
    }
    get desiredSize() {
      return this.#requireSink().desiredSize;
    }
    async write(chunk = undefined) {
      return await this.#requireSink().write(chunk);
    }
    async close() {
      return await this.#requireSink().close();
    }
    async abort(reason = undefined) {
      return await this.#requireSink().abortWith(reason);
    }
    releaseLock() {
      if (this.#sink) this.#sink.writer = undefined;
      this.#sink = undefined;
    }
    get [Symbol.toStringTag]() {
      return "WritableStreamDefaultWriter";
    }
  }

  class WritableStream {
    constructor(underlying = {}, strategy = {}) {
      sinkOf.set(this, new Sink(underlying ?? {}, strategy));
    }
    get locked() {
      return sinkOf.get(this).writer !== undefined;
    }
    getWriter() {
      return new WritableStreamDefaultWriter(this);
    }
    async close() {
      if (this.locked) throw new TypeError("Cannot close a locked stream");
      await sinkOf.get(this).close();
    }
    async abort(reason = undefined) {
      if (this.locked) throw new TypeError("Cannot abort a locked stream");
      await sinkOf.get(this).abortWith(reason);
    }
    get [Symbol.toStringTag]() {
      return "WritableStream";
    }
  }

  return { WritableStream, WritableStreamDefaultWriter };
};
