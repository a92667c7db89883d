// AsyncLocalStorage and AsyncResource. The engine carries the context across awaits; the worker's storages hold it.
($) => {
  "use strict";
  const { host } = $;
  const call = (fn, thisArg, args) => Reflect.apply(fn, thisArg, args);

  class AsyncLocalStorage {
    #id = host.newStorage();
    run(store, callback, ...args) {
      return host.runWithStore(this.#id, store, () => callback(...args));
    }
    exit(callback, ...args) {
      return this.run(undefined, callback, ...args);
    }
    getStore() {
      return host.getStore(this.#id);
    }
    enterWith(store) {
      host.enterStore(this.#id, store);
    }
    disable() {
      host.enterStore(this.#id, undefined);
    }
    static bind(fn) {
      const restore = AsyncLocalStorage.snapshot();
      return function (...args) {
        return restore(() => call(fn, this, args));
      };
    }
    static snapshot() {
      const id = host.takeSnapshot();
      return (fn, ...args) => host.runInSnapshot(id, () => fn(...args));
    }
  }

  class AsyncResource {
    #restore = AsyncLocalStorage.snapshot();
    constructor(type) {
      this.type = type;
      Object.defineProperty(this, "type", { enumerable: false });
    }
    runInAsyncScope(fn, thisArg, ...args) {
      return this.#restore(() => call(fn, thisArg, args));
    }
    bind(fn) {
      return (...args) => this.runInAsyncScope(fn, undefined, ...args);
    }
    static bind(fn, type = "bound") {
      return new AsyncResource(type).bind(fn);
    }
    emitDestroy() {
      return this;
    }
  }

  return { AsyncLocalStorage, AsyncResource };
};
