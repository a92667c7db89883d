// AbortController and AbortSignal.
($) => {
  "use strict";
  const { DOMException, Event, EventTarget } = $.use("events");
  const KEY = Symbol();
  let trigger; // aborts a signal; only controllers may

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    #followers = [];
    onabort = null;

    constructor(key) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      super();
      Object.defineProperty(this, "onabort", { enumerable: false });
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    get [Symbol.toStringTag]() {
      return "AbortSignal";
    }

    static {
      trigger = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason;
        const event = new Event("abort");
        if (typeof signal.onabort === "function") signal.onabort.call(signal, event);
        signal.dispatchEvent(event);
        for (const follower of signal.#followers) trigger(follower, reason);
      };
    }
    static abort(reason = new DOMException("The operation was aborted.", "AbortError")) {
      const signal = new AbortSignal(KEY);
      trigger(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(KEY);
      $.use("timers").setTimeout(() => {
        trigger(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError"));
      }, milliseconds);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(KEY);
      for (const source of signals) {
        if (source.aborted) trigger(signal, source.reason);
        else source.#followers.push(signal);
      }
      return signal;
    }
  }

  class AbortController {
    #signal = new AbortSignal(KEY);
    get signal() {
      return this.#signal;
    }
    abort(reason = new DOMException("The operation was aborted.", "AbortError")) {
      trigger(this.#signal, reason);
    }
    get [Symbol.toStringTag]() {
      return "AbortController";
    }
  }

  return { AbortController, AbortSignal };
};
