// Renders values for log lines, with the output of the npm package `object-inspect` for the options
// {maxStringLength: 32768, indent: 2, customInspect: true}. tests/backend/runtime/vectors holds its answers.
() => {
  "use strict";
  const MAX_STRING = 32768;
  const MAX_DEPTH = 5;
  const INDENT = "  ";
  const ESCAPES = { 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r" };
  const { toString } = Object.prototype;
  const { hasOwnProperty, propertyIsEnumerable } = Object.prototype;
  const { apply, getPrototypeOf } = Reflect;

  const hasOwn = (object, key) => apply(hasOwnProperty, object, [key]);
  const tagOf = (value) => apply(toString, value, []);
  /** True for built-in objects of that kind which do not pretend to be something else. */
  const isKind = (value, kind) =>
    tagOf(value) === `[object ${kind}]` && !(Symbol.toStringTag in value) && value[Symbol.toStringTag] === undefined;
  const answersTo = (method, value, ...args) => {
    try {
      apply(method, value, args);
      return true;
    } catch {
      return false;
    }
  };
  const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  const setSize = Object.getOwnPropertyDescriptor(Set.prototype, "size").get;
  const { has: weakMapHas } = WeakMap.prototype;
  const { has: weakSetHas } = WeakSet.prototype;
  const isWeakRef = (value) => value instanceof WeakRef;

  const escapeControl = (character) => {
    const code = character.charCodeAt(0);
    return ESCAPES[code] ?? `\\x${code < 16 ? "0" : ""}${code.toString(16).toUpperCase()}`;
  };
  const quote = (text) => `'${text.replace(/(['\\])/g, "\\$1").replace(/[\x00-\x1f]/g, escapeControl)}'`;
  const renderString = (text, limit) => {
    if (text.length <= limit) return quote(text);
    const rest = text.length - limit;
    return `${quote(text.slice(0, limit))}... ${rest} more character${rest > 1 ? "s" : ""}`;
  };
  const renderNumber = (value) => (Object.is(value, -0) ? "-0" : String(value));

  /** `flat` is the style of map keys: one line, strings not cut. */
  class Renderer {
    constructor(depth, seen, flat) {
      this.depth = depth;
      this.seen = seen;
      this.flat = flat;
    }

    child(value, parent, flat = this.flat) {
      if (parent !== undefined) this.seen = [...this.seen, parent];
      return new Renderer(this.depth + 1, this.seen, flat).render(value);
    }

    render(value) {
      if (value === null) return "null";
      switch (typeof value) {
        case "undefined":
        case "boolean":
          return String(value);
        case "string":
          return renderString(value, this.flat ? Infinity : MAX_STRING);
        case "number":
          return renderNumber(value);
        case "bigint":
          return `${value}n`;
        case "symbol":
          return value.toString();
        case "function":
          return this.seen.includes(value) ? "[Circular]" : this.renderFunction(value);
        default:
          return this.renderObject(value);
      }
    }

    renderObject(value) {
      if (this.depth >= MAX_DEPTH) return isKind(value, "Array") ? "[Array]" : "[Object]";
      if (this.seen.includes(value)) return "[Circular]";
      return this.renderElement(value) ?? this.renderBuiltIn(value) ?? this.renderPlain(value);
    }

    renderFunction(value) {
      const members = this.members(value);
      const name = value.name ? `: ${value.name}` : " (anonymous)";
      return `[Function${name}]${members.length > 0 ? ` { ${members.join(", ")} }` : ""}`;
    }

    renderElement(value) {
      if (typeof value.nodeName !== "string" || typeof value.getAttribute !== "function") return undefined;
      const name = value.nodeName.toLowerCase();
      let text = `<${name}`;
      for (const attribute of Array.from(value.attributes || [])) {
        text += ` ${attribute.name}="${String(attribute.value).replace(/"/g, "&quot;")}"`;
      }
      return `${text}>${value.childNodes?.length ? "..." : ""}</${name}>`;
    }

    renderBuiltIn(value) {
      if (answersTo(Symbol.prototype.toString, value)) return `Object(${Symbol.prototype.toString.call(value)})`;
      if (isKind(value, "Array")) return this.renderArray(value);
      if (isKind(value, "Error")) return this.renderError(value);
      if (typeof value.inspect === "function") return value.inspect();
      return this.renderCollection(value) ?? this.renderBoxed(value);
    }

    renderArray(value) {
      if (value.length === 0) return "[]";
      const items = this.members(value);
      if (this.flat || items.every((item) => !item.includes("\n"))) return `[ ${items.join(", ")} ]`;
      return `[${this.indented(items)}]`;
    }

    renderError(value) {
      const parts = this.members(value);
      if ("cause" in value && !apply(propertyIsEnumerable, value, ["cause"])) {
        parts.unshift(`[cause]: ${this.child(value.cause)}`);
      }
      return parts.length === 0 ? `[${value}]` : `{ [${value}] ${parts.join(", ")} }`;
    }

    renderCollection(value) {
      if (answersTo(mapSize, value)) {
        const entries = [];
        Map.prototype.forEach.call(value, (item, key) => {
          entries.push(`${this.child(key, value, true)} => ${this.child(item, value)}`);
        });
        return `Map (${mapSize.call(value)}) {${this.joined(entries)}}`;
      }
      if (answersTo(setSize, value)) {
        const entries = [];
        Set.prototype.forEach.call(value, (item) => entries.push(this.child(item, value)));
        return `Set (${setSize.call(value)}) {${this.joined(entries)}}`;
      }
      if (answersTo(weakMapHas, value, {})) return "WeakMap { ? }";
      if (answersTo(weakSetHas, value, {})) return "WeakSet { ? }";
      return isWeakRef(value) ? "WeakRef { ? }" : undefined;
    }

    renderBoxed(value) {
      if (isKind(value, "Number")) return `Object(${this.child(Number(value))})`;
      if (answersTo(BigInt.prototype.valueOf, value))
        return `Object(${this.child(BigInt.prototype.valueOf.call(value))})`;
      if (isKind(value, "Boolean")) return `Object(${Boolean.prototype.valueOf.call(value)})`;
      return isKind(value, "String") ? `Object(${this.child(String(value))})` : undefined;
    }

    renderPlain(value) {
      if (value === globalThis) return "{ [object globalThis] }";
      if (isKind(value, "Date") || isKind(value, "RegExp")) return String(value);
      const members = this.members(value);
      const tag = this.tag(value);
      if (members.length === 0) return `${tag}{}`;
      return this.flat ? `${tag}{ ${members.join(", ")} }` : `${tag}{${this.indented(members)}}`;
    }

    tag(value) {
      const isPlain = getPrototypeOf(value) === Object.prototype;
      const isBare = !(value instanceof Object);
      const constructor = !isPlain && typeof value.constructor === "function" ? value.constructor.name : "";
      let kind = isBare ? "Object" : "";
      if (!isPlain && Symbol.toStringTag in value) kind = tagOf(value).slice(8, -1);
      const notes = [kind, isBare ? "null prototype" : ""].filter(Boolean).join(": ");
      return `${constructor ? `${constructor} ` : ""}${notes ? `[${notes}] ` : ""}`;
    }

    members(value) {
      const items = [];
      const isArray = isKind(value, "Array");
      if (isArray)
        for (let i = 0; i < value.length; i++) items[i] = hasOwn(value, i) ? this.child(value[i], value) : "";
      for (const key in value) {
        if (!hasOwn(value, key)) continue;
        if (isArray && String(Number(key)) === key && key < value.length) continue;
        const name = /[^\w$]/.test(key) ? this.child(key, value) : key;
        items.push(`${name}: ${this.child(value[key], value)}`);
      }
      for (const symbol of Object.getOwnPropertySymbols(value)) {
        if (apply(propertyIsEnumerable, value, [symbol])) {
          items.push(`[${symbol.toString()}]: ${this.child(value[symbol], value)}`);
        }
      }
      return items;
    }

    joined(items) {
      return this.flat ? items.join(", ") : this.indented(items);
    }

    indented(items) {
      if (items.length === 0) return "";
      const outer = `\n${INDENT.repeat(this.depth)}`;
      return `${outer}${INDENT}${items.join(`,${outer}${INDENT}`)}${outer}`;
    }
  }

  return { inspect: (value) => String(new Renderer(0, [], false).render(value)) };
};
