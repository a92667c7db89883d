// DOMException, Event and EventTarget.
() => {
  "use strict";
  const LEGACY_CODES = {
    __proto__: null,
    IndexSizeError: 1,
    HierarchyRequestError: 3,
    WrongDocumentError: 4,
    InvalidCharacterError: 5,
    NoModificationAllowedError: 7,
    NotFoundError: 8,
    NotSupportedError: 9,
    InUseAttributeError: 10,
    InvalidStateError: 11,
    SyntaxError: 12,
    InvalidModificationError: 13,
    NamespaceError: 14,
    InvalidAccessError: 15,
    TypeMismatchError: 17,
    SecurityError: 18,
    NetworkError: 19,
    AbortError: 20,
    URLMismatchError: 21,
    QuotaExceededError: 22,
    TimeoutError: 23,
    InvalidNodeTypeError: 24,
    DataCloneError: 25,
  };

  class DOMException extends Error {
    #name;
    constructor(message = "", options = "Error") {
      const { name = "Error", cause } = typeof options === "object" && options !== null ? options : { name: options };
      super(`${message}`, cause === undefined ? undefined : { cause });
      this.#name = `${name}`;
    }
    get name() {
      return this.#name;
    }
    get code() {
      return LEGACY_CODES[this.#name] ?? 0;
    }
    get [Symbol.toStringTag]() {
      return "DOMException";
    }
  }

  const state = new WeakMap(); // Event → what dispatch needs to know

  class Event {
    static NONE = 0;
    static CAPTURING_PHASE = 1;
    static AT_TARGET = 2;
    static BUBBLING_PHASE = 3;
    #type;
    #init;
    constructor(type, init = {}) {
      if (arguments.length === 0) throw new TypeError("Event: 1 argument required, but only 0 present.");
      this.#type = `${type}`;
      this.#init = {
        bubbles: Boolean(init?.bubbles),
        cancelable: Boolean(init?.cancelable),
        composed: Boolean(init?.composed),
      };
      state.set(this, {
        target: null,
        currentTarget: null,
        phase: 0,
        canceled: false,
        stopped: false,
        stoppedNow: false,
        passive: false,
      });
    }
    get type() {
      return this.#type;
    }
    get target() {
      return state.get(this).target;
    }
    get srcElement() {
      return this.target;
    }
    get currentTarget() {
      return state.get(this).currentTarget;
    }
    get eventPhase() {
      return state.get(this).phase;
    }
    get bubbles() {
      return this.#init.bubbles;
    }
    get cancelable() {
      return this.#init.cancelable;
    }
    get composed() {
      return this.#init.composed;
    }
    get defaultPrevented() {
      return state.get(this).canceled;
    }
    get returnValue() {
      return !this.defaultPrevented;
    }
    get isTrusted() {
      return false;
    }
    get timeStamp() {
      return 0;
    }
    composedPath() {
      const { currentTarget } = state.get(this);
      return currentTarget === null ? [] : [currentTarget];
    }
    preventDefault() {
      const own = state.get(this);
      if (this.cancelable && !own.passive) own.canceled = true;
    }
    stopPropagation() {
      state.get(this).stopped = true;
    }
    stopImmediatePropagation() {
      state.get(this).stoppedNow = true;
    }
    get [Symbol.toStringTag]() {
      return "Event";
    }
  }

  const normalize = (options) => {
    if (typeof options === "boolean") return { capture: options, once: false, passive: false, signal: undefined };
    return {
      capture: Boolean(options?.capture),
      once: Boolean(options?.once),
      passive: Boolean(options?.passive),
      signal: options?.signal,
    };
  };

  class EventTarget {
    #listeners = new Map();

    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      const listener = { callback, ...normalize(options) };
      if (listener.signal?.aborted) return;
      const list = this.#listeners.get(`${type}`) ?? [];
      if (list.some((other) => other.callback === callback && other.capture === listener.capture)) return;
      this.#listeners.set(`${type}`, [...list, listener]);
      listener.signal?.addEventListener("abort", () => this.removeEventListener(type, callback, options), {
        once: true,
      });
    }

    removeEventListener(type, callback, options) {
      const { capture } = normalize(options);
      const list = this.#listeners.get(`${type}`) ?? [];
      this.#listeners.set(
        `${type}`,
        list.filter((other) => other.callback !== callback || other.capture !== capture),
      );
    }

    dispatchEvent(event) {
      const own = state.get(event);
      if (own === undefined) throw new TypeError("EventTarget.dispatchEvent: Argument 1 is not an Event.");
      Object.assign(own, { target: this, currentTarget: this, phase: 2 });
      for (const listener of this.#listeners.get(event.type) ?? []) {
        if (!this.#listeners.get(event.type).includes(listener)) continue;
        if (listener.once) this.removeEventListener(event.type, listener.callback, listener.capture);
        own.passive = listener.passive;
        this.#call(listener.callback, event);
        if (own.stoppedNow) break;
      }
      Object.assign(own, { currentTarget: null, phase: 0 });
      return !own.canceled;
    }

    #call(callback, event) {
      try {
        if (typeof callback === "function") callback.call(this, event);
        else callback.handleEvent(event);
      } catch (error) {
        Promise.reject(error); // reported as an unhandled rejection, like an exception in a listener
      }
    }

    get [Symbol.toStringTag]() {
      return "EventTarget";
    }
  }

  return { DOMException, Event, EventTarget };
};
