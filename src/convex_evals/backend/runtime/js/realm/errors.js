// Error texts and stack frames, as clients and logs see them: source-mapped, without the SDK's own frames at the ends.
($) => {
  "use strict";
  const { stringify, parse } = JSON;
  const NativeError = Error;
  const { isError } = Error;
  const { join } = Array.prototype;
  const { toString: objectToString } = Object.prototype;
  const { toString: errorToString } = Error.prototype;
  const { apply } = Reflect;
  const CONVEX_ERROR = Symbol.for("ConvexError");
  const SDK_INTERNALS = "convex/src/server/impl";
  const SCHEME = "convex:/";
  const framesOf = new WeakMap();

  // The engine counts frames of the worker, too. It gets room for them, and user frames are counted here.
  const SHOWN_FRAMES = 10;
  const CAPTURED_FRAMES = 40;
  NativeError.stackTraceLimit = CAPTURED_FRAMES;

  const methodCall = (site, name) => {
    const type = site.getTypeName();
    const method = site.getMethodName();
    if (!name) return `${type ? `${type}.` : ""}${method || "<anonymous>"}`;
    const qualified = type && !name.startsWith(type) ? `${type}.${name}` : name;
    return method && name !== method && !name.endsWith(`.${method}`) ? `${qualified} [as ${method}]` : qualified;
  };

  const calledName = (site) => {
    const name = site.getFunctionName();
    if (site.isConstructor()) return `new ${name || "<anonymous>"}`;
    return site.isToplevel() ? name : methodCall(site, name);
  };

  const isUserFrame = (site) => site.isPromiseAll() || `${site.getFileName()}`.startsWith(SCHEME);

  const frameOf = (site) => {
    const prefix = site.isAsync() ? "    at async " : "    at ";
    if (site.isPromiseAll()) return { text: `${prefix}Promise.all (index ${site.getPromiseIndex()})`, isSdk: false };
    const file = site.getFileName();
    const position = $.host.position(file.slice(SCHEME.length), site.getLineNumber(), site.getColumnNumber());
    if (position === undefined) return undefined;
    const name = calledName(site);
    return {
      text: name ? `${prefix}${name} (${position})` : `${prefix}${position}`,
      isSdk: position.includes(SDK_INTERNALS),
    };
  };

  const collect = (sites) => {
    const frames = [];
    const isLimitOurs = NativeError.stackTraceLimit === CAPTURED_FRAMES;
    let left = isLimitOurs ? SHOWN_FRAMES : sites.length;
    for (let i = 0; i < sites.length && left > 0; i++) {
      if (!isUserFrame(sites[i])) continue;
      left--;
      const frame = frameOf(sites[i]);
      if (frame !== undefined) frames[frames.length] = frame;
    }
    let start = 0;
    let end = frames.length;
    while (start < end && frames[start].isSdk) start++;
    while (end > start && frames[end - 1].isSdk) end--;
    const texts = [];
    for (let i = start; i < end; i++) texts[texts.length] = frames[i].text;
    return texts;
  };

  const prepareStackTrace = (error, sites) => {
    const frames = collect(sites);
    framesOf.set(error, frames);
    return apply(join, frames, ["\n"]);
  };
  // V8 looks it up on every capture; what user code assigns has no effect, as in the original.
  Object.defineProperty(Error, "prepareStackTrace", {
    get: () => prepareStackTrace,
    set() {},
    enumerable: false,
    configurable: false,
  });

  const frames = (error) => {
    void error.stack; // formats it now, if nobody has looked before
    return framesOf.get(error) ?? [];
  };

  const isErrorLike = (value) =>
    isError(value) ||
    (typeof value === "object" && value !== null && (value instanceof NativeError || CONVEX_ERROR in value));

  /** What V8 prints for a thrown value that is no Error. */
  const describeThrown = (value) => {
    if (typeof value === "symbol" || typeof value !== "object" || value === null) {
      return typeof value === "function" ? `${value}` : String(value);
    }
    if (value.toString === errorToString) return `${value}`;
    const name = value.toString === objectToString ? value.constructor?.name : undefined;
    return name ? `#<${name}>` : apply(objectToString, value, []);
  };

  const headline = (error) => {
    const name = `${error.name}`;
    const message = `${error.message}`;
    if (!name) return message ? `Uncaught ${message}` : "Uncaught";
    return message ? `Uncaught ${name}: ${message}` : `Uncaught ${name}`;
  };

  /** The SDK has turned the data of a ConvexError into JSON text before rethrowing it. */
  const convexData = (error) => {
    if (typeof error !== "object" || error === null || !(CONVEX_ERROR in error)) return undefined;
    const text = typeof error.data === "string" ? error.data : stringify(error.data ?? null);
    parse(text);
    return text;
  };

  const textOf = (error) => {
    if (!isErrorLike(error)) return `Uncaught ${describeThrown(error)}\n`;
    let text = `${headline(error)}\n`;
    const lines = frames(error);
    for (let i = 0; i < lines.length; i++) text += `${lines[i]}\n`;
    return text;
  };

  return {
    frames,
    /** JSON text `{message, data?}`; never throws, whatever was thrown. */
    describe(error) {
      let message;
      try {
        message = textOf(error);
      } catch {
        return stringify({ message: "Uncaught Error\n" });
      }
      try {
        return stringify({ message, data: convexData(error) });
      } catch (cause) {
        return stringify({ message: `ConvexError with invalid data: ${cause?.message}\n` });
      }
    },
  };
};
