// URL and URLSearchParams. The worker parses; this realm keeps the href and the parts it got back.
($) => {
  "use strict";
  const { host } = $;
  const PARTS = [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ];
  let attach; // links a URLSearchParams to its URL
  let reload;

  const decode = (text) => host.decodeForm(text);
  const encode = (text) => host.encodeForm(text);

  const parsePairs = (query) => {
    const pairs = [];
    for (const part of query.split("&")) {
      if (part === "") continue;
      const at = part.indexOf("=");
      pairs.push(at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]);
    }
    return pairs;
  };

  const pairOf = (entry) => {
    const pair = Array.from(entry);
    if (pair.length !== 2) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
    return [`${pair[0]}`, `${pair[1]}`];
  };

  const pairsFrom = (init) => {
    if (init === undefined || init === null) return [];
    if (typeof init !== "object" && typeof init !== "function") return parsePairs(`${init}`.replace(/^\?/, ""));
    if (typeof init[Symbol.iterator] === "function") return Array.from(init, pairOf);
    return Reflect.ownKeys(init)
      .filter((key) => Object.prototype.propertyIsEnumerable.call(init, key))
      .map((key) => [`${String(key)}`, `${init[key]}`]);
  };

  class URLSearchParams {
    #pairs;
    #onChange = () => {};
    constructor(init = undefined) {
      this.#pairs = pairsFrom(init);
    }
    static {
      attach = (params, onChange) => {
        params.#onChange = onChange;
      };
      reload = (params, query) => {
        params.#pairs = parsePairs(query);
      };
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([`${name}`, `${value}`]);
      this.#onChange();
    }
    delete(name, value = undefined) {
      this.#pairs = this.#pairs.filter(
        ([key, own]) => key !== `${name}` || (value !== undefined && own !== `${value}`),
      );
      this.#onChange();
    }
    get(name) {
      return this.#pairs.find(([key]) => key === `${name}`)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([key]) => key === `${name}`).map(([, value]) => value);
    }
    has(name, value = undefined) {
      return this.#pairs.some(([key, own]) => key === `${name}` && (value === undefined || own === `${value}`));
    }
    set(name, value) {
      const index = this.#pairs.findIndex(([key]) => key === `${name}`);
      if (index < 0) this.#pairs.push([`${name}`, `${value}`]);
      else {
        this.#pairs[index] = [`${name}`, `${value}`];
        this.#pairs = this.#pairs.filter(([key], at) => at <= index || key !== `${name}`);
      }
      this.#onChange();
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#onChange();
    }
    forEach(callback, thisArg = undefined) {
      for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries() {
      for (let i = 0; i < this.#pairs.length; i++) yield [...this.#pairs[i]];
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
    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
    }
    get [Symbol.toStringTag]() {
      return "URLSearchParams";
    }
  }

  class URL {
    #parts;
    #params = undefined;
    constructor(url, base = undefined) {
      const text = base === undefined ? host.parseUrl(`${url}`) : host.parseUrl(`${url}`, `${base}`);
      if (text === undefined) throw new TypeError("Invalid URL");
      this.#parts = JSON.parse(text);
    }
    #set(part, value) {
      this.#parts = JSON.parse(host.changeUrl(this.#parts[0], part, `${value}`));
      if (this.#params) reload(this.#params, this.search.slice(1));
    }
    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.search);
        attach(this.#params, () => {
          this.#parts = JSON.parse(host.changeUrl(this.#parts[0], "search", this.#params.toString()));
        });
      }
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    static canParse(url, base = undefined) {
      return (base === undefined ? host.parseUrl(`${url}`) : host.parseUrl(`${url}`, `${base}`)) !== undefined;
    }
    static parse(url, base = undefined) {
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    get [Symbol.toStringTag]() {
      return "URL";
    }
    static {
      PARTS.forEach((part, index) => {
        const accessor = {
          get() {
            return this.#parts[index];
          },
          set(value) {
            if (part === "href" && !URL.canParse(value)) throw new TypeError("Invalid URL");
            this.#set(part, value);
          },
          enumerable: true,
          configurable: true,
        };
        if (part === "origin") delete accessor.set;
        Object.defineProperty(this.prototype, part, accessor);
      });
    }
  }

  return { URL, URLSearchParams };
};
