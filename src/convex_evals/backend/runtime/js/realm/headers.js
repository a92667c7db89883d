// Headers: names lower-cased and sorted, values of one name joined, except set-cookie.
() => {
  "use strict";
  const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  const normalizeName = (name) => {
    const text = `${name}`;
    if (!NAME.test(text)) throw new TypeError(`Invalid header name: ${text}`);
    return text.toLowerCase();
  };
  const normalizeValue = (value) => {
    const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]/.test(text)) throw new TypeError(`Invalid header value: ${text}`);
    return text;
  };

  class Headers {
    #values = new Map();
    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object") throw new TypeError("Headers: init must be an object");
      const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const pair of pairs) {
        const [name, value, ...rest] = pair;
        if (value === undefined || rest.length > 0)
          throw new TypeError("Headers: each pair must be a name and a value");
        this.append(name, value);
      }
    }
    append(name, value) {
      const key = normalizeName(name);
      this.#values.set(key, [...(this.#values.get(key) ?? []), normalizeValue(value)]);
    }
    delete(name) {
      this.#values.delete(normalizeName(name));
    }
    get(name) {
      return this.#values.get(normalizeName(name))?.join(", ") ?? null;
    }
    getSetCookie() {
      return [...(this.#values.get("set-cookie") ?? [])];
    }
    has(name) {
      return this.#values.has(normalizeName(name));
    }
    set(name, value) {
      this.#values.set(normalizeName(name), [normalizeValue(value)]);
    }
    forEach(callback, thisArg = undefined) {
      for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries() {
      for (const name of [...this.#values.keys()].sort()) {
        if (name === "set-cookie") for (const value of this.#values.get(name)) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    get [Symbol.toStringTag]() {
      return "Headers";
    }
  }

  return { Headers };
};
