// The first code in a fresh realm. Everything under realm/ runs inside the realm of user code and reaches the worker
// only through `host`, a table of functions that take and return primitives (and byte arrays made here). `host` never
// leaves these closures.
//
// Every file of this folder is one expression: a factory that gets `$` and returns what it provides. They are joined
// into one script (context.mjs); a factory runs when its first global is touched, so a realm costs what it uses.
(host, factories) => {
  "use strict";
  const { defineProperty, freeze } = Object;
  const loaded = { __proto__: null };

  const $ = {
    host,
    phase: "import", // then "query", "mutation", "action" or "httpAction"
    use: (name) => (loaded[name] ??= factories[name]($)),
    get transactional() {
      return $.phase === "query" || $.phase === "mutation";
    },
    /** Refuses what only actions may do; `what` as in "fetch()". */
    requireAction(what) {
      if ($.phase === "import") throw new Error(`${what} unsupported at import time`);
      if (!$.transactional) return;
      throw new Error(
        `Can't use ${what} in queries and mutations. Please consider using an action. ` +
          "See https://docs.convex.dev/functions/actions for more details.",
      );
    },
    /** Ends the function. User code may catch what is thrown, but its outcome is decided. */
    terminate(message) {
      host.fatal(message);
      throw new Error(message);
    },
    notImplemented(member, type) {
      return $.terminate(
        `Not implemented: ${member} for ${type}. Consider calling an action defined in Node.js instead ` +
          "(https://docs.convex.dev/functions/actions).",
      );
    },
  };

  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  const defineLazily = (name, factory) =>
    defineProperty(globalThis, name, {
      get() {
        const value = $.use(factory)[name];
        define(name, value);
        return value;
      },
      set: (value) => define(name, value),
      enumerable: false,
      configurable: true,
    });

  const LAZY = {
    async_context: ["AsyncLocalStorage", "AsyncResource"],
    blob: ["Blob", "File"],
    clone: ["structuredClone"],
    console: ["console"],
    crypto: ["crypto", "Crypto", "CryptoKey", "SubtleCrypto"],
    encoding: ["TextEncoder", "TextDecoder", "atob", "btoa"],
    events: ["DOMException", "Event", "EventTarget"],
    abort: ["AbortController", "AbortSignal"],
    fetch: ["Request", "Response", "fetch"],
    form_data: ["FormData"],
    headers: ["Headers"],
    performance: ["performance", "Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure"],
    readable_stream: ["ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader"],
    writable_stream: ["WritableStream", "WritableStreamDefaultWriter"],
    transform_stream: ["TransformStream", "TextEncoderStream", "TextDecoderStream"],
    timers: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"],
    url: ["URL", "URLSearchParams"],
  };

  const errors = $.use("errors");
  const clock = $.use("clock");
  const random = $.use("random");
  const pending = $.use("pending");
  const syscalls = $.use("syscalls");
  $.use("intrinsics");

  define("self", globalThis);
  define("Convex", syscalls.Convex);
  define("process", $.use("process").process);
  for (const factory in LAZY) for (const name of LAZY[factory]) defineLazily(name, factory);

  // Entered from outside through a script, so that the engine can stop it when time is up.
  defineProperty(globalThis, "__convexEnter", {
    value: freeze(() => host.job()),
    writable: false,
    enumerable: false,
    configurable: false,
  });

  return freeze({
    __proto__: null,
    begin(kind, nowMs, seed, aheadMs) {
      $.phase = kind;
      clock.set(nowMs, aheadMs);
      random.seed(seed);
    },
    seedImports: random.seed,
    describe: errors.describe,
    makeError: (message) => new Error(message),
    makeTypeError: (message) => new TypeError(message),
    resolve: pending.resolve,
    reject: pending.reject,
    finish: pending.finish,
    fail: pending.fail,
    fireTimer: (id) => $.use("timers").fire(id),
    invoke: (...args) => $.use("invoke").invoke(...args),
    abortRequest: () => $.use("http").abortRequest(),
  });
};
