"use node";
var Ge = Object.defineProperty;
var n = (e, t) => Ge(e, "name", { value: t, configurable: !0 }), xe = /* @__PURE__ */ ((e) => typeof require < "u" ? require : typeof Proxy < "u" ? new Proxy(e, {
  get: (t, r) => (typeof require < "u" ? require : t)[r]
}) : e)(function(e) {
  if (typeof require < "u") return require.apply(this, arguments);
  throw Error('Dynamic require of "' + e + '" is not supported');
});

// convex/nodeact.ts
import { createHash as Gt } from "node:crypto";
import we from "node:fs";
import zt from "node:os";
import Wt from "node:path";

// ../node_modules/convex/dist/esm/values/base64.js
var v = [], w = [], ze = Uint8Array, oe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
for (E = 0, be = oe.length; E < be; ++E)
  v[E] = oe[E], w[oe.charCodeAt(E)] = E;
var E, be;
w[45] = 62;
w[95] = 63;
function We(e) {
  var t = e.length;
  if (t % 4 > 0)
    throw new Error("Invalid string. Length must be a multiple of 4");
  var r = e.indexOf("=");
  r === -1 && (r = t);
  var o = r === t ? 0 : 4 - r % 4;
  return [r, o];
}
n(We, "getLens");
function Xe(e, t, r) {
  return (t + r) * 3 / 4 - r;
}
n(Xe, "_byteLength");
function $(e) {
  var t, r = We(e), o = r[0], s = r[1], c = new ze(Xe(e, o, s)), a = 0, f = s > 0 ? o - 4 : o, d;
  for (d = 0; d < f; d += 4)
    t = w[e.charCodeAt(d)] << 18 | w[e.charCodeAt(d + 1)] << 12 | w[e.charCodeAt(d + 2)] << 6 | w[e.charCodeAt(d + 3)], c[a++] = t >> 16 & 255, c[a++] = t >> 8 & 255, c[a++] = t & 255;
  return s === 2 && (t = w[e.charCodeAt(d)] << 2 | w[e.charCodeAt(d + 1)] >> 4, c[a++] = t & 255), s === 1 && (t = w[e.charCodeAt(d)] << 10 | w[e.charCodeAt(d + 1)] << 4 | w[e.charCodeAt(d + 2)] >> 2, c[a++] = t >> 8 & 255, c[a++] = t & 255), c;
}
n($, "toByteArray");
function Ye(e) {
  return v[e >> 18 & 63] + v[e >> 12 & 63] + v[e >> 6 & 63] + v[e & 63];
}
n(Ye, "tripletToBase64");
function Ke(e, t, r) {
  for (var o, s = [], c = t; c < r; c += 3)
    o = (e[c] << 16 & 16711680) + (e[c + 1] << 8 & 65280) + (e[c + 2] & 255), s.push(Ye(o));
  return s.join("");
}
n(Ke, "encodeChunk");
function C(e) {
  for (var t, r = e.length, o = r % 3, s = [], c = 16383, a = 0, f = r - o; a < f; a += c)
    s.push(
      Ke(
        e,
        a,
        a + c > f ? f : a + c
      )
    );
  return o === 1 ? (t = e[r - 1], s.push(v[t >> 2] + v[t << 4 & 63] + "==")) : o === 2 && (t = (e[r - 2] << 8) + e[r - 1], s.push(
    v[t >> 10] + v[t >> 4 & 63] + v[t << 2 & 63] + "="
  )), s.join("");
}
n(C, "fromByteArray");

// ../node_modules/convex/dist/esm/common/index.js
function S(e) {
  if (e === void 0)
    return {};
  if (!q(e))
    throw new Error(
      `The arguments to a Convex function must be an object. Received: ${e}`
    );
  return e;
}
n(S, "parseArgs");
function q(e) {
  let t = typeof e == "object", r = Object.getPrototypeOf(e), o = r === null || r === Object.prototype || // Objects generated from other contexts (e.g. across Node.js `vm` modules) will not satisfy the previous
  // conditions but are still simple objects.
  r?.constructor?.name === "Object";
  return t && o;
}
n(q, "isSimpleObject");

// ../node_modules/convex/dist/esm/values/value.js
var Se = !0, O = BigInt("-9223372036854775808"), B = BigInt("9223372036854775807"), ae = BigInt("0"), Ze = BigInt("8"), et = BigInt("256"), se = "This commit timestamp is unresolved: its value is assigned when the mutation commits. Read the document after the mutation completes to get its value.", _ = class {
  static {
    n(this, "CommitTsPlaceholder");
  }
  [Symbol.toPrimitive](t) {
    if (t === "string")
      return this.toString();
    throw new Error(se);
  }
  valueOf() {
    throw new Error(se);
  }
  toJSON() {
    throw new Error(se);
  }
  toString() {
    return "[unresolved commit timestamp]";
  }
}, Te = new _();
function _e(e) {
  return Number.isNaN(e) || !Number.isFinite(e) || Object.is(e, -0);
}
n(_e, "isSpecial");
function tt(e) {
  e < ae && (e -= O + O);
  let t = e.toString(16);
  t.length % 2 === 1 && (t = "0" + t);
  let r = new Uint8Array(new ArrayBuffer(8)), o = 0;
  for (let s of t.match(/.{2}/g).reverse())
    r.set([parseInt(s, 16)], o++), e >>= Ze;
  return C(r);
}
n(tt, "slowBigIntToBase64");
function rt(e) {
  let t = $(e);
  if (t.byteLength !== 8)
    throw new Error(
      `Received ${t.byteLength} bytes, expected 8 for $integer`
    );
  let r = ae, o = ae;
  for (let s of t)
    r += BigInt(s) * et ** o, o++;
  return r > B && (r += O + O), r;
}
n(rt, "slowBase64ToBigInt");
function nt(e) {
  if (e < O || B < e)
    throw new Error(
      `BigInt ${e} does not fit into a 64-bit signed integer.`
    );
  let t = new ArrayBuffer(8);
  return new DataView(t).setBigInt64(0, e, !0), C(new Uint8Array(t));
}
n(nt, "modernBigIntToBase64");
function ot(e) {
  let t = $(e);
  if (t.byteLength !== 8)
    throw new Error(
      `Received ${t.byteLength} bytes, expected 8 for $integer`
    );
  return new DataView(t.buffer).getBigInt64(0, !0);
}
n(ot, "modernBase64ToBigInt");
var st = DataView.prototype.setBigInt64 ? nt : tt, it = DataView.prototype.getBigInt64 ? ot : rt, Ae = 1024;
function ce(e) {
  if (e.length > Ae)
    throw new Error(
      `Field name ${e} exceeds maximum field name length ${Ae}.`
    );
  if (e.startsWith("$"))
    throw new Error(`Field name ${e} starts with a '$', which is reserved.`);
  for (let t = 0; t < e.length; t += 1) {
    let r = e.charCodeAt(t);
    if (r < 32 || r >= 127)
      throw new Error(
        `Field name ${e} has invalid character '${e[t]}': Field names can only contain non-control ASCII characters`
      );
  }
}
n(ce, "validateObjectField");
function m(e) {
  if (e === null || typeof e == "boolean" || typeof e == "number" || typeof e == "string")
    return e;
  if (Array.isArray(e))
    return e.map((o) => m(o));
  if (typeof e != "object")
    throw new Error(`Unexpected type of ${e}`);
  let t = Object.entries(e);
  if (t.length === 1) {
    let o = t[0][0];
    if (o === "$bytes") {
      if (typeof e.$bytes != "string")
        throw new Error(`Malformed $bytes field on ${e}`);
      return $(e.$bytes).buffer;
    }
    if (o === "$integer") {
      if (typeof e.$integer != "string")
        throw new Error(`Malformed $integer field on ${e}`);
      return it(e.$integer);
    }
    if (o === "$float") {
      if (typeof e.$float != "string")
        throw new Error(`Malformed $float field on ${e}`);
      let s = $(e.$float);
      if (s.byteLength !== 8)
        throw new Error(
          `Received ${s.byteLength} bytes, expected 8 for $float`
        );
      let a = new DataView(s.buffer).getFloat64(0, Se);
      if (!_e(a))
        throw new Error(`Float ${a} should be encoded as a number`);
      return a;
    }
    if (o === "$commitTs") {
      if (e.$commitTs !== null)
        throw new Error(`Malformed $commitTs field on ${e}`);
      return Te;
    }
    if (o === "$set")
      throw new Error(
        "Received a Set which is no longer supported as a Convex type."
      );
    if (o === "$map")
      throw new Error(
        "Received a Map which is no longer supported as a Convex type."
      );
  }
  let r = {};
  for (let [o, s] of Object.entries(e))
    ce(o), r[o] = m(s);
  return r;
}
n(m, "jsonToConvex");
var Ee = 16384;
function T(e) {
  let t = JSON.stringify(e, (r, o) => o === void 0 ? "undefined" : typeof o == "bigint" ? `${o.toString()}n` : o);
  if (t.length > Ee) {
    let r = "[...truncated]", o = Ee - r.length, s = t.codePointAt(o - 1);
    return s !== void 0 && s > 65535 && (o -= 1), t.substring(0, o) + r;
  }
  return t;
}
n(T, "stringifyValueForError");
function M(e, t, r, o) {
  if (e === void 0) {
    let a = r && ` (present at path ${r} in original object ${T(
      t
    )})`;
    throw new Error(
      `undefined is not a valid Convex value${a}. To learn about Convex's supported types, see https://docs.convex.dev/using/types.`
    );
  }
  if (e === null)
    return e;
  if (typeof e == "bigint") {
    if (e < O || B < e)
      throw new Error(
        `BigInt ${e} does not fit into a 64-bit signed integer.`
      );
    return { $integer: st(e) };
  }
  if (typeof e == "number")
    if (_e(e)) {
      let a = new ArrayBuffer(8);
      return new DataView(a).setFloat64(0, e, Se), { $float: C(new Uint8Array(a)) };
    } else
      return e;
  if (typeof e == "boolean" || typeof e == "string")
    return e;
  if (e instanceof ArrayBuffer)
    return { $bytes: C(new Uint8Array(e)) };
  if (e instanceof _)
    return { $commitTs: null };
  if (Array.isArray(e))
    return e.map(
      (a, f) => M(a, t, r + `[${f}]`, !1)
    );
  if (e instanceof Set)
    throw new Error(
      ie(r, "Set", [...e], t)
    );
  if (e instanceof Map)
    throw new Error(
      ie(r, "Map", [...e], t)
    );
  if (!q(e)) {
    let a = e?.constructor?.name, f = a ? `${a} ` : "";
    throw new Error(
      ie(r, f, e, t)
    );
  }
  let s = {}, c = Object.entries(e);
  c.sort(([a, f], [d, ge]) => a === d ? 0 : a < d ? -1 : 1);
  for (let [a, f] of c)
    f !== void 0 ? (ce(a), s[a] = M(f, t, r + `.${a}`, !1)) : o && (ce(a), s[a] = Oe(
      f,
      t,
      r + `.${a}`
    ));
  return s;
}
n(M, "convexToJsonInternal");
function ie(e, t, r, o) {
  return e ? `${t}${T(
    r
  )} is not a supported Convex type (present at path ${e} in original object ${T(
    o
  )}). To learn about Convex's supported types, see https://docs.convex.dev/using/types.` : `${t}${T(
    r
  )} is not a supported Convex type.`;
}
n(ie, "errorMessageForUnsupportedType");
function Oe(e, t, r) {
  if (e === void 0)
    return { $undefined: null };
  if (t === void 0)
    throw new Error(
      `Programming error. Current value is ${T(
        e
      )} but original value is undefined`
    );
  return M(e, t, r, !1);
}
n(Oe, "convexOrUndefinedToJsonInternal");
function y(e) {
  return M(e, e, "", !1);
}
n(y, "convexToJson");
function P(e) {
  return Oe(e, e, "");
}
n(P, "convexOrUndefinedToJson");

// ../node_modules/convex/dist/esm/values/validators.js
var at = Object.defineProperty, ct = /* @__PURE__ */ n((e, t, r) => t in e ? at(e, t, { enumerable: !0, configurable: !0, writable: !0, value: r }) : e[t] = r, "__defNormalProp"), l = /* @__PURE__ */ n((e, t, r) => ct(e, typeof t != "symbol" ? t + "" : t, r), "__publicField"), ut = "https://docs.convex.dev/error#undefined-validator";
function N(e, t) {
  let r = t !== void 0 ? ` for field "${t}"` : "";
  throw new Error(
    `A validator is undefined${r} in ${e}. This is often caused by circular imports. See ${ut} for details.`
  );
}
n(N, "throwUndefinedValidatorError");
var h = class {
  static {
    n(this, "BaseValidator");
  }
  constructor({ isOptional: t }) {
    l(this, "type"), l(this, "fieldPaths"), l(this, "isOptional"), l(this, "isConvexValidator"), this.isOptional = t, this.isConvexValidator = !0;
  }
}, U = class e extends h {
  static {
    n(this, "VId");
  }
  /**
   * Usually you'd use `v.id(tableName)` instead.
   */
  constructor({
    isOptional: t,
    tableName: r
  }) {
    if (super({ isOptional: t }), l(this, "tableName"), l(this, "kind", "id"), typeof r != "string")
      throw new Error("v.id(tableName) requires a string");
    this.tableName = r;
  }
  /** @internal */
  get json() {
    return { type: "id", tableName: this.tableName };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      tableName: this.tableName
    });
  }
}, R = class e extends h {
  static {
    n(this, "VFloat64");
  }
  constructor() {
    super(...arguments), l(this, "kind", "float64");
  }
  /** @internal */
  get json() {
    return { type: "number" };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional"
    });
  }
}, F = class e extends h {
  static {
    n(this, "VInt64");
  }
  constructor() {
    super(...arguments), l(this, "kind", "int64");
  }
  /** @internal */
  get json() {
    return { type: "bigint" };
  }
  /** @internal */
  asOptional() {
    return new e({ isOptional: "optional" });
  }
}, V = class e extends h {
  static {
    n(this, "VCommitTs");
  }
  constructor() {
    super(...arguments), l(this, "kind", "commitTs");
  }
  /** @internal */
  get json() {
    return { type: this.kind };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional"
    });
  }
}, k = class e extends h {
  static {
    n(this, "VBoolean");
  }
  constructor() {
    super(...arguments), l(this, "kind", "boolean");
  }
  /** @internal */
  get json() {
    return { type: this.kind };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional"
    });
  }
}, J = class e extends h {
  static {
    n(this, "VBytes");
  }
  constructor() {
    super(...arguments), l(this, "kind", "bytes");
  }
  /** @internal */
  get json() {
    return { type: this.kind };
  }
  /** @internal */
  asOptional() {
    return new e({ isOptional: "optional" });
  }
}, L = class e extends h {
  static {
    n(this, "VString");
  }
  constructor() {
    super(...arguments), l(this, "kind", "string");
  }
  /** @internal */
  get json() {
    return { type: this.kind };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional"
    });
  }
}, D = class e extends h {
  static {
    n(this, "VNull");
  }
  constructor() {
    super(...arguments), l(this, "kind", "null");
  }
  /** @internal */
  get json() {
    return { type: this.kind };
  }
  /** @internal */
  asOptional() {
    return new e({ isOptional: "optional" });
  }
}, Q = class e extends h {
  static {
    n(this, "VAny");
  }
  constructor() {
    super(...arguments), l(this, "kind", "any");
  }
  /** @internal */
  get json() {
    return {
      type: this.kind
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional"
    });
  }
}, H = class e extends h {
  static {
    n(this, "VObject");
  }
  /**
   * Usually you'd use `v.object({ ... })` instead.
   */
  constructor({
    isOptional: t,
    fields: r
  }) {
    super({ isOptional: t }), l(this, "fields"), l(this, "kind", "object"), globalThis.Object.entries(r).forEach(([o, s]) => {
      if (s === void 0 && N("v.object()", o), !s.isConvexValidator)
        throw new Error("v.object() entries must be validators");
    }), this.fields = r;
  }
  /** @internal */
  get json() {
    return {
      type: this.kind,
      value: globalThis.Object.fromEntries(
        globalThis.Object.entries(this.fields).map(([t, r]) => [
          t,
          {
            fieldType: r.json,
            optional: r.isOptional === "optional"
          }
        ])
      )
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      fields: this.fields
    });
  }
  /**
   * Create a new VObject with the specified fields omitted.
   * @param fields The field names to omit from this VObject.
   */
  omit(...t) {
    let r = { ...this.fields };
    for (let o of t)
      delete r[o];
    return new e({
      isOptional: this.isOptional,
      fields: r
    });
  }
  /**
   * Create a new VObject with only the specified fields.
   * @param fields The field names to pick from this VObject.
   */
  pick(...t) {
    let r = {};
    for (let o of t)
      r[o] = this.fields[o];
    return new e({
      isOptional: this.isOptional,
      fields: r
    });
  }
  /**
   * Create a new VObject with all fields marked as optional.
   */
  partial() {
    let t = {};
    for (let [r, o] of globalThis.Object.entries(this.fields))
      t[r] = o.asOptional();
    return new e({
      isOptional: this.isOptional,
      fields: t
    });
  }
  /**
   * Create a new VObject with additional fields merged in.
   * @param fields An object with additional validators to merge into this VObject.
   */
  extend(t) {
    return new e({
      isOptional: this.isOptional,
      fields: { ...this.fields, ...t }
    });
  }
}, G = class e extends h {
  static {
    n(this, "VLiteral");
  }
  /**
   * Usually you'd use `v.literal(value)` instead.
   */
  constructor({ isOptional: t, value: r }) {
    if (super({ isOptional: t }), l(this, "value"), l(this, "kind", "literal"), typeof r != "string" && typeof r != "boolean" && typeof r != "number" && typeof r != "bigint")
      throw new Error("v.literal(value) must be a string, number, or boolean");
    this.value = r;
  }
  /** @internal */
  get json() {
    return {
      type: this.kind,
      value: y(this.value)
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      value: this.value
    });
  }
}, z = class e extends h {
  static {
    n(this, "VArray");
  }
  /**
   * Usually you'd use `v.array(element)` instead.
   */
  constructor({
    isOptional: t,
    element: r
  }) {
    super({ isOptional: t }), l(this, "element"), l(this, "kind", "array"), r === void 0 && N("v.array()"), this.element = r;
  }
  /** @internal */
  get json() {
    return {
      type: this.kind,
      value: this.element.json
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      element: this.element
    });
  }
}, W = class e extends h {
  static {
    n(this, "VRecord");
  }
  /**
   * Usually you'd use `v.record(key, value)` instead.
   */
  constructor({
    isOptional: t,
    key: r,
    value: o
  }) {
    if (super({ isOptional: t }), l(this, "key"), l(this, "value"), l(this, "kind", "record"), r === void 0 && N("v.record()", "key"), o === void 0 && N("v.record()", "value"), r.isOptional === "optional")
      throw new Error("Record validator cannot have optional keys");
    if (o.isOptional === "optional")
      throw new Error("Record validator cannot have optional values");
    if (!r.isConvexValidator || !o.isConvexValidator)
      throw new Error("Key and value of v.record() but be validators");
    this.key = r, this.value = o;
  }
  /** @internal */
  get json() {
    return {
      type: this.kind,
      // This cast is needed because TypeScript thinks the key type is too wide
      keys: this.key.json,
      values: {
        fieldType: this.value.json,
        optional: !1
      }
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      key: this.key,
      value: this.value
    });
  }
}, X = class e extends h {
  static {
    n(this, "VUnion");
  }
  /**
   * Usually you'd use `v.union(...members)` instead.
   */
  constructor({ isOptional: t, members: r }) {
    super({ isOptional: t }), l(this, "members"), l(this, "kind", "union"), r.forEach((o, s) => {
      if (o === void 0 && N("v.union()", `member at index ${s}`), !o.isConvexValidator)
        throw new Error("All members of v.union() must be validators");
    }), this.members = r;
  }
  /** @internal */
  get json() {
    return {
      type: this.kind,
      value: this.members.map((t) => t.json)
    };
  }
  /** @internal */
  asOptional() {
    return new e({
      isOptional: "optional",
      members: this.members
    });
  }
};

// ../node_modules/convex/dist/esm/values/validator.js
function Y(e) {
  return !!e.isConvexValidator;
}
n(Y, "isValidator");
function K(e) {
  return Y(e) ? e : i.object(e);
}
n(K, "asObjectValidator");
var i = {
  /**
   * Validates that the value is a document ID for the given table.
   *
   * IDs are strings at runtime but are typed as `Id<"tableName">` in
   * TypeScript for type safety.
   *
   * @example
   * ```typescript
   * args: { userId: v.id("users") }
   * ```
   *
   * @param tableName The name of the table.
   */
  id: /* @__PURE__ */ n((e) => new U({
    isOptional: "required",
    tableName: e
  }), "id"),
  /**
   * Validates that the value is `null`.
   *
   * Use `returns: v.null()` for functions that don't return a meaningful value.
   * JavaScript `undefined` is not a valid Convex value, it is automatically
   * converted to `null`.
   */
  null: /* @__PURE__ */ n(() => new D({ isOptional: "required" }), "null"),
  /**
   * Validates that the value is a JavaScript `number` (Convex Float64).
   *
   * Supports all IEEE-754 double-precision floating point numbers including
   * NaN and Infinity.
   *
   * Alias for `v.float64()`.
   */
  number: /* @__PURE__ */ n(() => new R({ isOptional: "required" }), "number"),
  /**
   * Validates that the value is a JavaScript `number` (Convex Float64).
   *
   * Supports all IEEE-754 double-precision floating point numbers.
   */
  float64: /* @__PURE__ */ n(() => new R({ isOptional: "required" }), "float64"),
  /**
   * @deprecated Use `v.int64()` instead.
   */
  bigint: /* @__PURE__ */ n(() => new F({ isOptional: "required" }), "bigint"),
  /**
   * Validates that the value is a JavaScript `bigint` (Convex Int64).
   *
   * Supports BigInts between -2^63 and 2^63-1.
   *
   * @example
   * ```typescript
   * args: { timestamp: v.int64() }
   * // Usage: createDoc({ timestamp: 1234567890n })
   * ```
   */
  int64: /* @__PURE__ */ n(() => new F({ isOptional: "required" }), "int64"),
  /**
   * Validates that the value is a commit timestamp: an int64 (`bigint`)
   * assigned from the transaction's commit timestamp.
   *
   * An index on a field with this validator orders documents by commit order.
   * Accepts any int64 value; write `db.vars.commitTs` to have the field
   * resolve to the commit timestamp when the mutation commits.
   */
  commitTs: /* @__PURE__ */ n(() => new V({ isOptional: "required" }), "commitTs"),
  /**
   * Validates that the value is a `boolean`.
   */
  boolean: /* @__PURE__ */ n(() => new k({ isOptional: "required" }), "boolean"),
  /**
   * Validates that the value is a `string`.
   *
   * Strings are stored as UTF-8 and their storage size is calculated as their
   * UTF-8 encoded size.
   */
  string: /* @__PURE__ */ n(() => new L({ isOptional: "required" }), "string"),
  /**
   * Validates that the value is an `ArrayBuffer` (Convex Bytes).
   *
   * Use for binary data.
   */
  bytes: /* @__PURE__ */ n(() => new J({ isOptional: "required" }), "bytes"),
  /**
   * Validates that the value is exactly equal to the given literal.
   *
   * Useful for discriminated unions and enum-like patterns.
   *
   * @example
   * ```typescript
   * // Discriminated union pattern:
   * v.union(
   *   v.object({ kind: v.literal("error"), message: v.string() }),
   *   v.object({ kind: v.literal("success"), value: v.number() }),
   * )
   * ```
   *
   * @param literal The literal value to compare against.
   */
  literal: /* @__PURE__ */ n((e) => new G({ isOptional: "required", value: e }), "literal"),
  /**
   * Validates that the value is an `Array` where every element matches the
   * given validator.
   *
   * Arrays can have at most 8192 elements.
   *
   * @example
   * ```typescript
   * args: { tags: v.array(v.string()) }
   * args: { coordinates: v.array(v.number()) }
   * args: { items: v.array(v.object({ name: v.string(), qty: v.number() })) }
   * ```
   *
   * @param element The validator for the elements of the array.
   */
  array: /* @__PURE__ */ n((e) => new z({ isOptional: "required", element: e }), "array"),
  /**
   * Validates that the value is an `Object` with the specified properties.
   *
   * Objects can have at most 1024 entries. Field names must be non-empty and
   * must not start with `"$"` or `"_"` (`_` is reserved for system fields
   * like `_id` and `_creationTime`; `$` is reserved for Convex internal use).
   *
   * @example
   * ```typescript
   * args: {
   *   user: v.object({
   *     name: v.string(),
   *     email: v.string(),
   *     age: v.optional(v.number()),
   *   })
   * }
   * ```
   *
   * @param fields An object mapping property names to their validators.
   */
  object: /* @__PURE__ */ n((e) => new H({ isOptional: "required", fields: e }), "object"),
  /**
   * Validates that the value is a `Record` (object with dynamic keys).
   *
   * Records are objects at runtime but allow dynamic keys, unlike `v.object()`
   * which requires known property names. Keys must be ASCII characters only,
   * non-empty, and not start with `"$"` or `"_"`.
   *
   * @example
   * ```typescript
   * // Map of user IDs to scores:
   * args: { scores: v.record(v.id("users"), v.number()) }
   *
   * // Map of string keys to string values:
   * args: { metadata: v.record(v.string(), v.string()) }
   * ```
   *
   * @param keys The validator for the keys of the record.
   * @param values The validator for the values of the record.
   */
  record: /* @__PURE__ */ n((e, t) => new W({
    isOptional: "required",
    key: e,
    value: t
  }), "record"),
  /**
   * Validates that the value matches at least one of the given validators.
   *
   * @example
   * ```typescript
   * // Allow string or number:
   * args: { value: v.union(v.string(), v.number()) }
   *
   * // Discriminated union (recommended pattern):
   * v.union(
   *   v.object({ kind: v.literal("text"), body: v.string() }),
   *   v.object({ kind: v.literal("image"), url: v.string() }),
   * )
   *
   * // Nullable value:
   * returns: v.union(v.object({ ... }), v.null())
   * ```
   *
   * @param members The validators to match against.
   */
  union: /* @__PURE__ */ n((...e) => new X({
    isOptional: "required",
    members: e
  }), "union"),
  /**
   * A validator that accepts any Convex value without validation.
   *
   * Prefer using specific validators when possible for better type safety
   * and runtime validation.
   */
  any: /* @__PURE__ */ n(() => new Q({ isOptional: "required" }), "any"),
  /**
   * Makes a property optional in an object validator.
   *
   * An optional property can be omitted entirely when creating a document or
   * calling a function. This is different from `v.nullable()` which requires
   * the property to be present but allows `null`.
   *
   * @example
   * ```typescript
   * v.object({
   *   name: v.string(),              // required
   *   nickname: v.optional(v.string()), // can be omitted
   * })
   *
   * // Valid: { name: "Alice" }
   * // Valid: { name: "Alice", nickname: "Ali" }
   * // Invalid: { name: "Alice", nickname: null }  - use v.nullable() for this
   * ```
   *
   * @param value The property value validator to make optional.
   */
  optional: /* @__PURE__ */ n((e) => e.asOptional(), "optional"),
  /**
   * Allows a value to be either the given type or `null`.
   *
   * This is shorthand for `v.union(value, v.null())`. Unlike `v.optional()`,
   * the property must still be present, but may be `null`.
   *
   * @example
   * ```typescript
   * v.object({
   *   name: v.string(),
   *   deletedAt: v.nullable(v.number()), // must be present, can be null
   * })
   *
   * // Valid: { name: "Alice", deletedAt: null }
   * // Valid: { name: "Alice", deletedAt: 1234567890 }
   * // Invalid: { name: "Alice" }  - deletedAt is required
   * ```
   */
  nullable: /* @__PURE__ */ n((e) => i.union(e, i.null()), "nullable")
};

// ../node_modules/convex/dist/esm/values/errors.js
var lt = Object.defineProperty, ft = /* @__PURE__ */ n((e, t, r) => t in e ? lt(e, t, { enumerable: !0, configurable: !0, writable: !0, value: r }) : e[t] = r, "__defNormalProp"), ue = /* @__PURE__ */ n((e, t, r) => ft(e, typeof t != "symbol" ? t + "" : t, r), "__publicField"), Ie, $e, pt = /* @__PURE__ */ Symbol.for("ConvexError"), Z = class extends ($e = Error, Ie = pt, $e) {
  static {
    n(this, "ConvexError");
  }
  constructor(t) {
    super(typeof t == "string" ? t : T(t)), ue(this, "name", "ConvexError"), ue(this, "data"), ue(this, Ie, !0), this.data = t;
  }
};

// ../node_modules/convex/dist/esm/values/compare_utf8.js
var Ce = /* @__PURE__ */ n(() => Array.from({ length: 4 }, () => 0), "arr"), dr = Ce(), hr = Ce();

// ../node_modules/convex/dist/esm/index.js
var p = "1.44.0";

// ../node_modules/convex/dist/esm/server/impl/syscall.js
async function u(e, t) {
  if (typeof Convex > "u" || Convex.asyncSyscall === void 0)
    throw new Error(
      "The Convex database and auth objects are being used outside of a Convex backend. Did you mean to use `useQuery` or `useMutation` to call a Convex function?"
    );
  let r;
  try {
    r = await Convex.asyncSyscall(e, JSON.stringify(t));
  } catch (o) {
    if (o.data !== void 0) {
      let s = new Z(o.message);
      throw s.data = m(o.data), s;
    }
    throw new Error(o.message);
  }
  return JSON.parse(r);
}
n(u, "performAsyncSyscall");
function ee(e, t) {
  if (typeof Convex > "u" || Convex.jsSyscall === void 0)
    throw new Error(
      "The Convex database and auth objects are being used outside of a Convex backend. Did you mean to use `useQuery` or `useMutation` to call a Convex function?"
    );
  return Convex.jsSyscall(e, t);
}
n(ee, "performJsSyscall");

// ../node_modules/convex/dist/esm/server/functionName.js
var j = /* @__PURE__ */ Symbol.for("functionName");

// ../node_modules/convex/dist/esm/server/components/paths.js
var Pe = /* @__PURE__ */ Symbol.for("toReferencePath");
function dt(e) {
  return e[Pe] ?? null;
}
n(dt, "extractReferencePath");
function ht(e) {
  return e.startsWith("function://");
}
n(ht, "isFunctionHandle");
function x(e) {
  let t;
  if (typeof e == "string")
    ht(e) ? t = { functionHandle: e } : t = { name: e };
  else if (e[j])
    t = { name: e[j] };
  else {
    let r = dt(e);
    if (!r)
      throw new Error(`${e} is not a functionReference`);
    t = { reference: r };
  }
  return t;
}
n(x, "getFunctionAddress");

// ../node_modules/convex/dist/esm/server/impl/validate.js
function g(e, t, r, o) {
  if (e === void 0)
    throw new TypeError(
      `Must provide arg ${t} \`${o}\` to \`${r}\``
    );
}
n(g, "validateArg");

// ../node_modules/convex/dist/esm/server/impl/actions_impl.js
function le(e, t, r) {
  return {
    ...x(t),
    args: y(S(r)),
    version: p,
    requestId: e
  };
}
n(le, "syscallArgs");
function Ne(e) {
  return {
    runQuery: /* @__PURE__ */ n(async (t, r) => {
      let o = await u(
        "1.0/actions/query",
        le(e, t, r)
      );
      return m(o);
    }, "runQuery"),
    runMutation: /* @__PURE__ */ n(async (t, r) => {
      let o = await u(
        "1.0/actions/mutation",
        le(e, t, r)
      );
      return m(o);
    }, "runMutation"),
    runAction: /* @__PURE__ */ n(async (t, r) => {
      let o = await u(
        "1.0/actions/action",
        le(e, t, r)
      );
      return m(o);
    }, "runAction")
  };
}
n(Ne, "setupActionCalls");

// ../node_modules/convex/dist/esm/server/vector_search.js
var mt = Object.defineProperty, yt = /* @__PURE__ */ n((e, t, r) => t in e ? mt(e, t, { enumerable: !0, configurable: !0, writable: !0, value: r }) : e[t] = r, "__defNormalProp"), Re = /* @__PURE__ */ n((e, t, r) => yt(e, typeof t != "symbol" ? t + "" : t, r), "__publicField"), te = class {
  static {
    n(this, "FilterExpression");
  }
  /**
   * @internal
   */
  constructor() {
    Re(this, "_isExpression"), Re(this, "_value");
  }
};

// ../node_modules/convex/dist/esm/server/impl/vector_search_impl.js
var wt = Object.defineProperty, gt = /* @__PURE__ */ n((e, t, r) => t in e ? wt(e, t, { enumerable: !0, configurable: !0, writable: !0, value: r }) : e[t] = r, "__defNormalProp"), fe = /* @__PURE__ */ n((e, t, r) => gt(e, typeof t != "symbol" ? t + "" : t, r), "__publicField");
function Fe(e) {
  return async (t, r, o) => {
    if (g(t, 1, "vectorSearch", "tableName"), g(r, 2, "vectorSearch", "indexName"), g(o, 3, "vectorSearch", "query"), !o.vector || !Array.isArray(o.vector) || o.vector.length === 0)
      throw Error("`vector` must be a non-empty Array in vectorSearch");
    return await new pe(
      e,
      t + "." + r,
      o
    ).collect();
  };
}
n(Fe, "setupActionVectorSearch");
var pe = class {
  static {
    n(this, "VectorQueryImpl");
  }
  constructor(t, r, o) {
    fe(this, "requestId"), fe(this, "state"), this.requestId = t;
    let s = o.filter ? re(o.filter(xt)) : null;
    this.state = {
      type: "preparing",
      query: {
        indexName: r,
        limit: o.limit,
        vector: o.vector,
        expressions: s
      }
    };
  }
  async collect() {
    if (this.state.type === "consumed")
      throw new Error("This query is closed and can't emit any more values.");
    let t = this.state.query;
    this.state = { type: "consumed" };
    let { results: r } = await u("1.0/actions/vectorSearch", {
      requestId: this.requestId,
      version: p,
      query: t
    });
    return r;
  }
}, I = class extends te {
  static {
    n(this, "ExpressionImpl");
  }
  constructor(t) {
    super(), fe(this, "inner"), this.inner = t;
  }
  serialize() {
    return this.inner;
  }
};
function re(e) {
  return e instanceof I ? e.serialize() : { $literal: P(e) };
}
n(re, "serializeExpression");
var xt = {
  //  Comparisons  /////////////////////////////////////////////////////////////
  eq(e, t) {
    if (typeof e != "string")
      throw new Error("The first argument to `q.eq` must be a field name.");
    return new I({
      $eq: [
        re(new I({ $field: e })),
        re(t)
      ]
    });
  },
  //  Logic  ///////////////////////////////////////////////////////////////////
  or(...e) {
    return new I({ $or: e.map(re) });
  }
};

// ../node_modules/convex/dist/esm/server/impl/authentication_impl.js
function je(e) {
  return {
    getUserIdentity: /* @__PURE__ */ n(async () => await u("1.0/getUserIdentity", {
      requestId: e
    }), "getUserIdentity")
  };
}
n(je, "setupAuth");

// ../node_modules/convex/dist/esm/server/impl/scheduler_impl.js
function qe(e) {
  return {
    runAfter: /* @__PURE__ */ n(async (t, r, o) => {
      let s = {
        requestId: e,
        ...At(t, r, o)
      };
      return await u("1.0/actions/schedule", s);
    }, "runAfter"),
    runAt: /* @__PURE__ */ n(async (t, r, o) => {
      let s = {
        requestId: e,
        ...Et(t, r, o)
      };
      return await u("1.0/actions/schedule", s);
    }, "runAt"),
    cancel: /* @__PURE__ */ n(async (t) => {
      g(t, 1, "cancel", "id");
      let r = {
        requestId: e,
        id: y(t)
      };
      return await u("1.0/actions/cancel_job", r);
    }, "cancel")
  };
}
n(qe, "setupActionScheduler");
function At(e, t, r) {
  if (typeof e != "number")
    throw new Error("`delayMs` must be a number");
  if (!isFinite(e))
    throw new Error("`delayMs` must be a finite number");
  if (e < 0)
    throw new Error("`delayMs` must be non-negative");
  let o = S(r), s = x(t), c = (Date.now() + e) / 1e3;
  return {
    ...s,
    ts: c,
    args: y(o),
    version: p
  };
}
n(At, "runAfterSyscallArgs");
function Et(e, t, r) {
  let o;
  if (e instanceof Date)
    o = e.valueOf() / 1e3;
  else if (typeof e == "number")
    o = e / 1e3;
  else
    throw new Error("The invoke time must a Date or a timestamp");
  let s = x(t), c = S(r);
  return {
    ...s,
    ts: o,
    args: y(c),
    version: p
  };
}
n(Et, "runAtSyscallArgs");

// ../node_modules/convex/dist/esm/server/impl/storage_impl.js
function Me(e) {
  return {
    getUrl: /* @__PURE__ */ n(async (t) => (g(t, 1, "getUrl", "storageId"), await u("1.0/storageGetUrl", {
      requestId: e,
      version: p,
      storageId: t
    })), "getUrl"),
    getMetadata: /* @__PURE__ */ n(async (t) => await u("1.0/storageGetMetadata", {
      requestId: e,
      version: p,
      storageId: t
    }), "getMetadata")
  };
}
n(Me, "setupStorageReader");
function Be(e) {
  let t = Me(e);
  return {
    generateUploadUrl: /* @__PURE__ */ n(async () => await u("1.0/storageGenerateUploadUrl", {
      requestId: e,
      version: p
    }), "generateUploadUrl"),
    delete: /* @__PURE__ */ n(async (r) => {
      await u("1.0/storageDelete", {
        requestId: e,
        version: p,
        storageId: r
      });
    }, "delete"),
    getUrl: t.getUrl,
    getMetadata: t.getMetadata
  };
}
n(Be, "setupStorageWriter");
function Ue(e) {
  return {
    ...Be(e),
    store: /* @__PURE__ */ n(async (r, o) => await ee("storage/storeBlob", {
      requestId: e,
      version: p,
      blob: r,
      options: o
    }), "store"),
    get: /* @__PURE__ */ n(async (r) => await ee("storage/getBlob", {
      requestId: e,
      version: p,
      storageId: r
    }), "get")
  };
}
n(Ue, "setupStorageActionWriter");

// ../node_modules/convex/dist/esm/server/impl/meta_impl.js
async function St() {
  let { name: e, componentPath: t } = await u(
    "1.0/getFunctionMetadata",
    {}
  );
  return {
    name: e,
    componentPath: t
  };
}
n(St, "getFunctionMetadata");
async function Tt() {
  let e = await u(
    "1.0/getDeploymentMetadata",
    {}
  ), t = m(e);
  return {
    name: t.name,
    region: t.region ?? null,
    class: t.class
  };
}
n(Tt, "getDeploymentMetadata");
async function _t() {
  let { ip: e, userAgent: t, requestId: r, scheduledFunctionId: o, authToken: s } = await u("1.0/getRequestMetadata", {});
  return { ip: e, userAgent: t, requestId: r, scheduledFunctionId: o, authToken: s };
}
n(_t, "getRequestMetadata");
function Ve(e) {
  return {
    getFunctionMetadata: /* @__PURE__ */ n(async () => ({
      ...await St(),
      type: "action",
      visibility: e
    }), "getFunctionMetadata"),
    getDeploymentMetadata: Tt,
    getRequestMetadata: _t
  };
}
n(Ve, "setupActionMeta");

// ../node_modules/convex/dist/esm/server/impl/registration_impl.js
async function Ot(e, t, r) {
  let o;
  try {
    o = await Promise.resolve(e(t, ...r));
  } catch (s) {
    throw $t(s);
  }
  return o;
}
n(Ot, "invokeFunction");
function It(e, t) {
  return (r, o) => (globalThis.console.warn(
    `Convex functions should not directly call other Convex functions. Consider calling a helper function instead. e.g. \`export const foo = ${e}(...); await foo(ctx);\` is not supported. See https://docs.convex.dev/production/best-practices/#use-helper-functions-to-write-shared-code`
  ), t(r, o));
}
n(It, "dontCallDirectly");
function $t(e) {
  if (typeof e == "object" && e !== null && /* @__PURE__ */ Symbol.for("ConvexError") in e) {
    let t = e;
    return t.data = JSON.stringify(
      y(t.data === void 0 ? null : t.data)
    ), t.ConvexErrorSymbol = /* @__PURE__ */ Symbol.for("ConvexError"), t;
  } else
    return e;
}
n($t, "serializeConvexErrorData");
function Ct() {
  if (typeof window > "u" || window.__convexAllowFunctionsInBrowser)
    return;
  (Object.getOwnPropertyDescriptor(globalThis, "window")?.get?.toString().includes("[native code]") ?? !1) && console.error(
    "Convex functions should not be imported in the browser. This will throw an error in future versions of `convex`. If this is a false negative, please report it to Convex support."
  );
}
n(Ct, "assertNotBrowser");
function ke(e, t) {
  if (t === void 0)
    throw new Error(
      `A validator is undefined for field "${e}". This is often caused by circular imports. See https://docs.convex.dev/error#undefined-validator for details.`
    );
  return t;
}
n(ke, "strictReplacer");
function Pt(e) {
  return () => {
    let t = i.any();
    return typeof e == "object" && e.args !== void 0 && (t = K(e.args)), JSON.stringify(t.json, ke);
  };
}
n(Pt, "exportArgs");
function Nt(e) {
  return () => {
    let t;
    return typeof e == "object" && e.returns !== void 0 && (t = K(e.returns)), JSON.stringify(t ? t.json : null, ke);
  };
}
n(Nt, "exportReturns");
async function Rt(e, t, r, o) {
  let s = m(JSON.parse(r)), a = {
    ...Ne(t),
    auth: je(t),
    scheduler: qe(t),
    storage: Ue(t),
    vectorSearch: Fe(t),
    meta: Ve(o)
  }, f = await Ot(e, a, s);
  return JSON.stringify(y(f === void 0 ? null : f));
}
n(Rt, "invokeAction");
var de = /* @__PURE__ */ n(((e) => {
  let t = typeof e == "function" ? e : e.handler, r = It("action", t);
  return Ct(), r.isAction = !0, r.isPublic = !0, r.invokeAction = (o, s) => Rt(t, o, s, "public"), r.exportArgs = Pt(e), r.exportReturns = Nt(e), r._handler = t, r;
}), "actionGeneric");

// ../node_modules/convex/dist/esm/server/pagination.js
var Do = i.object({
  numItems: i.number(),
  cursor: i.union(i.string(), i.null()),
  endCursor: i.optional(i.union(i.string(), i.null())),
  id: i.optional(i.number()),
  maximumRowsRead: i.optional(i.number()),
  maximumBytesRead: i.optional(i.number())
});

// ../node_modules/convex/dist/esm/server/api.js
function Je(e = []) {
  let t = {
    get(r, o) {
      if (typeof o == "string") {
        let s = [...e, o];
        return Je(s);
      } else if (o === j) {
        if (e.length < 2) {
          let a = ["api", ...e].join(".");
          throw new Error(
            `API path is expected to be of the form \`api.moduleName.functionName\`. Found: \`${a}\``
          );
        }
        let s = e.slice(0, -1).join("/"), c = e[e.length - 1];
        return c === "default" ? s : s + ":" + c;
      } else return o === Symbol.toStringTag ? "FunctionReference" : void 0;
    }
  };
  return new Proxy({}, t);
}
n(Je, "createApi");
var he = Je();

// ../node_modules/convex/dist/esm/server/logVars.js
var jt = /* @__PURE__ */ Symbol("var.requestId"), qt = /* @__PURE__ */ Symbol("var.ip"), Mt = /* @__PURE__ */ Symbol("var.userAgent"), Bt = /* @__PURE__ */ Symbol("var.now"), Ut = /* @__PURE__ */ Symbol("var.convexActor"), Vt = {
  [jt]: "requestId",
  [qt]: "ip",
  [Mt]: "userAgent",
  [Bt]: "now",
  [Ut]: "convexActor"
};

// ../node_modules/convex/dist/esm/server/schema.js
var kt = Object.defineProperty, Jt = /* @__PURE__ */ n((e, t, r) => t in e ? kt(e, t, { enumerable: !0, configurable: !0, writable: !0, value: r }) : e[t] = r, "__defNormalProp"), A = /* @__PURE__ */ n((e, t, r) => Jt(e, typeof t != "symbol" ? t + "" : t, r), "__publicField"), ne = class {
  static {
    n(this, "TableDefinition");
  }
  /**
   * @internal
   */
  constructor(t) {
    A(this, "indexes"), A(this, "stagedDbIndexes"), A(this, "searchIndexes"), A(this, "stagedSearchIndexes"), A(this, "vectorIndexes"), A(this, "stagedVectorIndexes"), A(this, "validator"), this.indexes = [], this.stagedDbIndexes = [], this.searchIndexes = [], this.stagedSearchIndexes = [], this.vectorIndexes = [], this.stagedVectorIndexes = [], this.validator = t;
  }
  /**
   * This API is experimental: it may change or disappear.
   *
   * Returns indexes defined on this table.
   * Intended for the advanced use cases of dynamically deciding which index to use for a query.
   * If you think you need this, please chime in on ths issue in the Convex JS GitHub repo.
   * https://github.com/get-convex/convex-js/issues/49
   */
  " indexes"() {
    return this.indexes;
  }
  index(t, r) {
    return Array.isArray(r) ? this.indexes.push({
      indexDescriptor: t,
      fields: r
    }) : r.staged ? this.stagedDbIndexes.push({
      indexDescriptor: t,
      fields: r.fields
    }) : this.indexes.push({
      indexDescriptor: t,
      fields: r.fields
    }), this;
  }
  searchIndex(t, r) {
    return r.staged ? this.stagedSearchIndexes.push({
      indexDescriptor: t,
      searchField: r.searchField,
      filterFields: r.filterFields || []
    }) : this.searchIndexes.push({
      indexDescriptor: t,
      searchField: r.searchField,
      filterFields: r.filterFields || []
    }), this;
  }
  vectorIndex(t, r) {
    return r.staged ? this.stagedVectorIndexes.push({
      indexDescriptor: t,
      vectorField: r.vectorField,
      dimensions: r.dimensions,
      filterFields: r.filterFields || []
    }) : this.vectorIndexes.push({
      indexDescriptor: t,
      vectorField: r.vectorField,
      dimensions: r.dimensions,
      filterFields: r.filterFields || []
    }), this;
  }
  /**
   * Work around for https://github.com/microsoft/TypeScript/issues/57035
   */
  self() {
    return this;
  }
  /**
   * Export the contents of this definition.
   *
   * This is called internally by the Convex framework.
   * @internal
   */
  export() {
    let t = this.validator.json;
    if (typeof t != "object")
      throw new Error(
        "Invalid validator: please make sure that the parameter of `defineTable` is valid (see https://docs.convex.dev/database/schemas)"
      );
    return {
      indexes: this.indexes,
      stagedDbIndexes: this.stagedDbIndexes,
      searchIndexes: this.searchIndexes,
      stagedSearchIndexes: this.stagedSearchIndexes,
      vectorIndexes: this.vectorIndexes,
      stagedVectorIndexes: this.stagedVectorIndexes,
      documentType: t
    };
  }
};
function me(e) {
  return Y(e) ? new ne(e) : new ne(i.object(e));
}
n(me, "defineTable");
function De(e, t) {
  switch (t.kind) {
    case "object":
      return t.extend({
        _id: i.id(e),
        _creationTime: i.number()
      });
    case "union":
      return i.union(
        ...t.members.map(
          (r) => De(e, r)
        )
      );
    // `v.any()` already permits the system fields.
    case "any":
      return t;
    default:
      throw new Error(
        `Invalid validator for table "${e}": a table's documents must be objects, or a union of objects (see https://docs.convex.dev/database/schemas)`
      );
  }
}
n(De, "addSystemFields");
function Qe(e, t) {
  return De(e, t.validator);
}
n(Qe, "docValidator");
function Le(e, t) {
  let r = e.tables[t];
  if (r === void 0)
    throw new Error(
      `Table "${t}" is not in this schema. Tables in this schema: ${Object.keys(
        e.tables
      ).join(", ")}`
    );
  return r;
}
n(Le, "tableInSchema");
var ye = class {
  static {
    n(this, "SchemaDefinition");
  }
  /**
   * @internal
   */
  constructor(t, r) {
    A(this, "tables"), A(this, "strictTableNameTypes"), A(this, "schemaValidation"), this.tables = t, this.schemaValidation = r?.schemaValidation === void 0 ? !0 : r.schemaValidation;
  }
  /**
   * The validator for whole documents of a table in this schema: the table's
   * own validator with the `_id` and `_creationTime` system fields added.
   *
   * @example
   * ```ts
   * export const get = query({
   *   args: { id: schema.id("messages") },
   *   returns: v.union(schema.doc("messages"), v.null()),
   *   handler: (ctx, args) => ctx.db.get(args.id),
   * });
   * ```
   *
   * @param tableName - The name of a table in this schema.
   * @returns A validator matching documents of that table.
   */
  doc(t) {
    return Qe(t, Le(this, t));
  }
  /**
   * The validator for IDs of a table in this schema.
   *
   * Same as `v.id(tableName)`, but only accepts tables in this schema.
   *
   * @param tableName - The name of a table in this schema.
   * @returns A validator matching IDs of that table.
   */
  id(t) {
    return Le(this, t), i.id(t);
  }
  /**
   * Export the contents of this definition.
   *
   * This is called internally by the Convex framework.
   * @internal
   */
  export() {
    return JSON.stringify({
      tables: Object.entries(this.tables).map(([t, r]) => {
        let {
          indexes: o,
          stagedDbIndexes: s,
          searchIndexes: c,
          stagedSearchIndexes: a,
          vectorIndexes: f,
          stagedVectorIndexes: d,
          documentType: ge
        } = r.export();
        return {
          tableName: t,
          indexes: o,
          stagedDbIndexes: s,
          searchIndexes: c,
          stagedSearchIndexes: a,
          vectorIndexes: f,
          stagedVectorIndexes: d,
          documentType: ge
        };
      }),
      schemaValidation: this.schemaValidation
    });
  }
};
function He(e, t) {
  return new ye(e, t);
}
n(He, "defineSchema");
var _s = He({
  _scheduled_functions: me({
    name: i.string(),
    args: i.array(i.any()),
    scheduledTime: i.float64(),
    completedTime: i.optional(i.float64()),
    state: i.union(
      i.object({ kind: i.literal("pending") }),
      i.object({ kind: i.literal("inProgress") }),
      i.object({ kind: i.literal("success") }),
      i.object({ kind: i.literal("failed"), error: i.string() }),
      i.object({ kind: i.literal("canceled") })
    )
  }),
  _storage: me({
    sha256: i.string(),
    size: i.float64(),
    contentType: i.optional(i.string())
  })
});

// convex/server.ts
var b = de;
var ii = process.env;

// convex/nodeact.ts
var Xt = 0, mi = b({
  args: { text: i.string() },
  handler: /* @__PURE__ */ n(async (e, { text: t }) => (console.log("hashing", { text: t }), Gt("sha256").update(t).digest("hex")), "handler")
}), yi = b({ args: {}, handler: /* @__PURE__ */ n(async () => ++Xt, "handler") }), wi = b({
  args: {},
  handler: /* @__PURE__ */ n(async () => ({
    mine: process.env.MY_VAR ?? null,
    names: Object.keys(process.env).sort(),
    require: typeof xe,
    buffer: typeof Buffer,
    file: typeof __filename
  }), "handler")
}), gi = b({
  args: {},
  handler: /* @__PURE__ */ n(async (e) => await e.runQuery(he.messages.list, {}), "handler")
}), xi = b({
  args: {},
  handler: /* @__PURE__ */ n(async () => {
    process.exit(3);
  }, "handler")
}), bi = b({
  args: {},
  handler: /* @__PURE__ */ n(async () => {
    Promise.reject(new Error("nobody listens")), await new Promise((e) => setTimeout(e, 50));
  }, "handler")
}), vi = b({
  args: {},
  handler: /* @__PURE__ */ n(async () => {
    throw new Error("node boom");
  }, "handler")
}), Ai = b({
  args: {},
  handler: /* @__PURE__ */ n(async () => {
    let e = Wt.join(zt.tmpdir(), "note.txt");
    return we.writeFileSync(e, "kept"), we.readFileSync(e, "utf8");
  }, "handler")
}), Ei = b({ args: {}, handler: /* @__PURE__ */ n(async () => we.readFileSync("/etc/passwd", "utf8"), "handler") }), Si = b({
  args: {},
  handler: /* @__PURE__ */ n(async (e) => {
    let t = await e.storage.store(new Blob(["from node"], { type: "text/x" })), r = await e.storage.get(t);
    return { id: t, text: await r.text(), type: r.type };
  }, "handler")
});
export {
  gi as callQuery,
  yi as count,
  wi as environment,
  xi as exits,
  mi as hash,
  Ei as readPassword,
  bi as rejects,
  Ai as scratch,
  Si as store,
  vi as throws
};
//# sourceMappingURL=nodeact.js.map
