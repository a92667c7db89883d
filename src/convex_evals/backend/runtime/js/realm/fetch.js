// Request, Response and fetch. The network is the worker's business; bodies are pulled from it chunk by chunk.
($) => {
  "use strict";
  const { Body, extract, share } = $.use("body");
  const { Headers } = $.use("headers");
  const NORMALIZED = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];
  const FORBIDDEN = ["CONNECT", "TRACE", "TRACK"];
  const NULL_BODY = [101, 204, 205, 304];
  const REDIRECTS = [301, 302, 303, 307, 308];

  const normalizeMethod = (method) => {
    const upper = `${method}`.toUpperCase();
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(`${method}`) || FORBIDDEN.includes(upper)) {
      throw new TypeError(`'${method}' is not a valid HTTP method.`);
    }
    return NORMALIZED.includes(upper) ? upper : `${method}`;
  };

  const parseUrl = (input) => {
    const { URL } = $.use("url");
    if (!URL.canParse(input)) throw new TypeError(`Failed to parse URL from ${input}`);
    return new URL(input).href;
  };

  const withContentType = (headers, type) => {
    if (type !== null && type !== undefined && !headers.has("content-type")) headers.append("content-type", type);
    return headers;
  };

  class Request extends Body {
    #url;
    #method;
    #headers;
    #signal;
    #redirect;
    constructor(input, init = {}) {
      const options = init ?? {};
      const base = input instanceof Request ? input : undefined;
      const method = normalizeMethod(options.method ?? base?.method ?? "GET");
      const given = options.body ?? null;
      if (given !== null && (method === "GET" || method === "HEAD"))
        throw new TypeError("Request with GET/HEAD method cannot have body.");
      const body = given === null && base ? { ...share(base), type: null } : extract(given);
      super(body);
      this.#method = method;
      this.#url = base ? base.url : parseUrl(`${input}`);
      this.#headers = withContentType(new Headers(options.headers ?? base?.headers), body.type);
      this.#signal = options.signal ?? base?.signal ?? new ($.use("abort").AbortController)().signal;
      this.#redirect = options.redirect ?? base?.redirect ?? "follow";
    }
    get url() {
      return this.#url;
    }
    get method() {
      return this.#method;
    }
    get headers() {
      return this.#headers;
    }
    get signal() {
      return this.#signal;
    }
    get redirect() {
      return this.#redirect;
    }
    get duplex() {
      return "half";
    }
    clone() {
      return new Request(this);
    }
    get [Symbol.toStringTag]() {
      return "Request";
    }
    static {
      const absent = [
        "cache",
        "credentials",
        "destination",
        "integrity",
        "isHistoryNavigation",
        "isReloadNavigation",
        "keepalive",
        "mode",
        "referrer",
        "referrerPolicy",
      ];
      for (const member of absent) {
        Object.defineProperty(this.prototype, member, {
          get: () => $.notImplemented(member, "Request"),
          enumerable: false,
          configurable: true,
        });
      }
    }
  }

  class Response extends Body {
    #status;
    #statusText;
    #headers;
    #meta; // what only fetch can know
    constructor(body = null, init = {}, meta = undefined) {
      const options = init ?? {};
      const status = options.status === undefined ? 200 : Number(options.status);
      if (meta === undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
        throw new RangeError(`The status provided (${options.status}) is outside the range [200, 599].`);
      }
      if (body !== null && body !== undefined && NULL_BODY.includes(status)) {
        throw new TypeError("Response with null body status cannot have body");
      }
      const extracted = extract(body);
      super(extracted);
      this.#status = status;
      this.#statusText = `${options.statusText ?? ""}`;
      this.#headers = withContentType(new Headers(options.headers), extracted.type);
      this.#meta = meta instanceof Meta ? meta : new Meta("", false, "default");
    }
    get status() {
      return this.#status;
    }
    get ok() {
      return this.#status >= 200 && this.#status <= 299;
    }
    get statusText() {
      return this.#statusText;
    }
    get headers() {
      return this.#headers;
    }
    get url() {
      return this.#meta.url;
    }
    get redirected() {
      return this.#meta.redirected;
    }
    get type() {
      return this.#meta.type;
    }
    clone() {
      const copy = share(this);
      const body = copy.stream ?? copy.bytes;
      return new Response(
        body,
        { status: this.#status, statusText: this.#statusText, headers: this.#headers },
        this.#meta,
      );
    }
    static error() {
      return new Response(null, { status: 0 }, new Meta("", false, "error"));
    }
    static json(data, init = {}) {
      const headers = new Headers(init?.headers);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      return new Response(JSON.stringify(data), { ...init, headers });
    }
    static redirect(url, status = 302) {
      if (!REDIRECTS.includes(status)) throw new RangeError(`Invalid status code ${status}`);
      return new Response(null, { status, headers: { location: parseUrl(`${url}`) } });
    }
    get [Symbol.toStringTag]() {
      return "Response";
    }
  }

  class Meta {
    constructor(url, redirected, type) {
      this.url = url;
      this.redirected = redirected;
      this.type = type;
    }
  }

  const incomingBody = (id) =>
    new ($.use("readable_stream").ReadableStream)(
      {
        async pull(controller) {
          const { value, bytes } = await $.use("pending").operation("fetch.read", { id });
          if (value.done) controller.close();
          else controller.enqueue(bytes);
        },
        cancel: () => $.host.abandonFetch(id),
      },
      { highWaterMark: 0 },
    );

  const requestBytes = async (request) => (request.body === null ? undefined : await request.bytes());

  const perform = async (request) => {
    const id = $.host.newFetch();
    const onAbort = () => $.host.abandonFetch(id);
    request.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const args = {
        id,
        url: request.url,
        method: request.method,
        headers: [...request.headers],
        redirect: request.redirect,
      };
      const { value } = await $.use("pending").operation("fetch", args, await requestBytes(request));
      const body = value.hasBody ? incomingBody(id) : null;
      return new Response(body, value, new Meta(value.url, value.redirected, "default"));
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw error;
    }
  };

  return {
    Request,
    Response,
    async fetch(input, init = undefined) {
      $.requireAction("fetch()");
      const request = new Request(input, init);
      const { protocol } = new ($.use("url").URL)(request.url);
      if (protocol !== "http:" && protocol !== "https:") {
        throw new TypeError(
          `Unsupported URL scheme -- http and https are supported (scheme was ${protocol.slice(0, -1)})`,
        );
      }
      request.signal.throwIfAborted();
      return await perform(request);
    },
  };
};
