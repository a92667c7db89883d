// Promises of operations the worker carries out: syscalls, cryptography, network, blobs.
($) => {
  "use strict";
  const NativePromise = Promise;
  const { parse } = JSON;
  const waiting = { __proto__: null };
  let lastId = 0;

  const take = (id) => {
    const entry = waiting[id];
    delete waiting[id];
    return entry;
  };

  /** `start(id)` hands the operation to the worker, which settles it by that id. */
  const start = (begin) =>
    new NativePromise((resolve, reject) => {
      const id = ++lastId;
      waiting[id] = { resolve, reject };
      begin(id);
    });

  const makeError = (name, message) => {
    if (name === "TypeError") return new TypeError(message);
    if (name === "RangeError") return new RangeError(message);
    if (name === "Error") return new Error(message);
    return new ($.use("events").DOMException)(message, name);
  };

  return {
    syscall: (name, args) => start((id) => $.host.syscall(id, name, args)),

    /** `name` in the names of ops/; `args` is sent as JSON, `bytes` as they are. Resolves to `{ value, bytes }`. */
    async operation(name, args, bytes = undefined) {
      if ($.phase === "import") throw new Error(`${name} unsupported at import time`);
      const outcome = await start((id) => $.host.operation(id, name, JSON.stringify(args), bytes));
      if (outcome.failed) throw makeError(outcome.name, outcome.message); // here, so that it has the caller's frames
      return outcome;
    },

    resolve: (id, text) => take(id)?.resolve(text),

    reject(id, message, data) {
      const error = new Error(message);
      if (data !== undefined) error.data = parse(data);
      take(id)?.reject(error);
    },

    finish(id, json, length) {
      let bytes;
      if (length >= 0) {
        bytes = new Uint8Array(length);
        $.host.fill(bytes);
      }
      take(id)?.resolve({ value: parse(json), bytes });
    },

    fail: (id, name, message) => take(id)?.resolve({ failed: true, name, message }),
  };
};
