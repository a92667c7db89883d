// structuredClone, without transfer.
($) => {
  "use strict";
  const ERRORS = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const refuse = (value) => {
    const what =
      typeof value === "symbol"
        ? value.toString()
        : typeof value === "function"
          ? `${value}`
          : Object.prototype.toString.call(value);
    throw new ($.use("events").DOMException)(`${what} could not be cloned.`, "DataCloneError");
  };

  const cloneView = (view, copy) => {
    const buffer = copy(view.buffer);
    if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
    return new view.constructor(buffer, view.byteOffset, view.length);
  };

  const cloneError = (error, copy) => {
    const own = new (ERRORS[error.name] ?? Error)(error.message);
    if ("cause" in error)
      Object.defineProperty(own, "cause", { value: copy(error.cause), writable: true, configurable: true });
    return own;
  };

  const copyMembers = (from, to, copy) => {
    for (const key of Object.keys(from)) to[key] = copy(from[key]);
    return to;
  };

  const cloneObject = (value, copy, remember) => {
    const tag = Object.prototype.toString.call(value);
    if (Array.isArray(value)) {
      const result = remember(new Array(value.length));
      return copyMembers(value, result, copy);
    }
    if (value instanceof Date) return remember(new Date(value.getTime()));
    if (value instanceof RegExp) return remember(new RegExp(value.source, value.flags));
    if (value instanceof Map) {
      const result = remember(new Map());
      for (const [key, item] of value) result.set(copy(key), copy(item));
      return result;
    }
    if (value instanceof Set) {
      const result = remember(new Set());
      for (const item of value) result.add(copy(item));
      return result;
    }
    if (value instanceof ArrayBuffer) return remember(value.slice(0));
    if (ArrayBuffer.isView(value)) return remember(cloneView(value, copy));
    if (Error.isError(value)) return remember(cloneError(value, copy));
    if (["[object Number]", "[object String]", "[object Boolean]", "[object BigInt]"].includes(tag))
      return remember(Object(value.valueOf()));
    if (value instanceof $.use("blob").Blob) return remember(value);
    if (tag !== "[object Object]" && tag !== "[object Arguments]") return refuse(value);
    return copyMembers(value, remember({}), copy);
  };

  const structuredClone = (value, options = undefined) => {
    if (options?.transfer !== undefined && [...options.transfer].length > 0)
      return $.notImplemented("transfer", "structuredClone");
    const copies = new Map();
    const copy = (item) => {
      if (typeof item === "function" || typeof item === "symbol") return refuse(item);
      if (typeof item !== "object" || item === null) return item;
      if (copies.has(item)) return copies.get(item);
      return cloneObject(item, copy, (result) => {
        copies.set(item, result);
        return result;
      });
    };
    return copy(value);
  };

  return { structuredClone };
};
