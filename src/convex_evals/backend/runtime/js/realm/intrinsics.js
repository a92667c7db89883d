// Differences between V8's own globals and those of the Convex runtime.
() => {
  "use strict";
  const define = (target, name, value) =>
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });

  // Garbage collection must not be observable: a reference stays, a registry never calls back.
  class WeakRef {
    #target;
    constructor(target) {
      if (
        (typeof target !== "object" || target === null) &&
        typeof target !== "function" &&
        typeof target !== "symbol"
      ) {
        throw new TypeError("WeakRef: target must be an object");
      }
      this.#target = target;
    }
    deref() {
      return this.#target;
    }
    get [Symbol.toStringTag]() {
      return "WeakRef";
    }
  }
  class FinalizationRegistry {
    constructor(cleanup) {
      if (typeof cleanup !== "function") throw new TypeError("FinalizationRegistry: cleanup must be callable");
    }
    register() {}
    unregister() {
      return false;
    }
    get [Symbol.toStringTag]() {
      return "FinalizationRegistry";
    }
  }
  define(globalThis, "WeakRef", WeakRef);
  define(globalThis, "FinalizationRegistry", FinalizationRegistry);

  define(Atomics, "wait", () => {
    throw new TypeError("Atomics.wait cannot be called in this context");
  });
  delete Atomics.waitAsync;

  // Compiling in the background would end after the function: do it at once.
  const { Module, Instance } = WebAssembly;
  define(WebAssembly, "compile", async (bytes) => new Module(bytes));
  define(WebAssembly, "instantiate", async (source, imports) => {
    if (source instanceof Module) return new Instance(source, imports);
    const module = new Module(source);
    return { module, instance: new Instance(module, imports) };
  });
  delete WebAssembly.compileStreaming;
  delete WebAssembly.instantiateStreaming;
  return {};
};
