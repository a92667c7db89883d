// Writes inspect.json: JavaScript expressions and how the npm package object-inspect renders them.
//   node inspect.mjs <node_modules with object-inspect>
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { createRequire } from "node:module";

const inspect = createRequire(path.resolve(process.argv[2], "x.js"))("object-inspect");
const OPTIONS = { maxStringLength: 32768, indent: 2, customInspect: true };

const EXPRESSIONS = [
  "'hi'", "''", "\"it's\"", "'a\\\\b'", "'line\\nbreak\\ttab\\r\\x00\\x1f\\b\\f'", "'üñí 😀'", "'x'.repeat(32770)", "'x'.repeat(32769)",
  "0", "-0", "1", "1.5", "-12345678", "NaN", "Infinity", "-Infinity", "1e21", "10n", "-3n", "true", "false", "null", "undefined",
  "Symbol('s')", "Symbol()", "Symbol.iterator", "Object(Symbol('boxed'))",
  "[]", "[1, 2]", "['a', [1, [2, [3, [4, [5, [6]]]]]]]", "[undefined, null]", "[1, , 3]", "[{ a: 1 }]", "[{ a: 1 }, 2, 'x']",
  "Object.assign([1, 2], { extra: true })", "[[], {}]", "new Array(3)",
  "{}", "{ a: 1 }", "{ a: 1, b: 'two', c: [3] }", "{ a: { b: { c: { d: { e: { f: 1 } } } } } }", "{ 'not an id': 1, $ok: 2, 'quo\\'te': 3, 7: 4 }",
  "{ [Symbol('k')]: 1 }", "{ a: undefined, f: null }", "{ inspect: 5 }", "{ inspect() { return 'custom'; } }",
  "(() => { const o = { name: 'loop' }; o.self = o; return o; })()", "(() => { const a = [1]; a.push(a); return a; })()",
  "(() => { const shared = { x: 1 }; return [shared, shared]; })()", "Object.create(null)", "Object.assign(Object.create(null), { a: 1 })",
  "new (class Point { constructor() { this.x = 1; } })()", "new (class Empty {})()", "new (class extends Array {})(3)",
  "new (class Tagged { get [Symbol.toStringTag]() { return 'Tag'; } })()", "{ [Symbol.toStringTag]: 'Own', a: 1 }",
  "Object.create({ inherited: 1 })", "Object.create({}, { hidden: { value: 1 }, shown: { value: 2, enumerable: true } })",
  "{ get a() { return 1; } }",
  "function named() {}", "(() => {})", "async function later() {}", "class Thing {}", "Object.assign(function withProps() {}, { a: 1 })",
  "new Error('x')", "new TypeError('bad')", "Object.assign(new Error('x'), { code: 5 })", "new Error('outer', { cause: new Error('inner') })",
  "new (class MyError extends Error { name = 'MyError'; })('mine')", "new Error()", "[new Error('in array')]", "{ error: new Error('in object') }",
  "new Map()", "new Map([['a', 1], [{ k: 1 }, [2]]])", "new Map([['deep', new Map([['x', { y: 1 }]])]])", "new Map([[[1, 2], 'v']])",
  "new Set()", "new Set([1, 'a', { b: 2 }])", "new WeakMap()", "new WeakSet()",
  "new Date(0)", "new Date(NaN)", "/re/gi", "new Number(5)", "new String('boxed')", "new Boolean(false)", "Object(10n)",
  "new Uint8Array([1, 2, 3])", "new Float64Array(2)", "new ArrayBuffer(2)", "Promise.resolve(1)", "(function* () {})()", "new Proxy({ a: 1 }, {})",
  "{ a: [1, { b: 2 }], c: new Map([['d', new Set([1])]]) }", "[[{ a: 1 }], [{ b: 2 }]]", "{ nested: [] , empty: {} }", "JSON", "Math",
  "{ nodeName: 'DIV', getAttribute() {}, attributes: [{ name: 'id', value: 'a\"b' }], childNodes: [1] }",
  "(function () { return arguments; })(1, 2)", "{ a: () => 1, b: class {} }", "[function () {}, Symbol('x'), 1n]",
];

const vectors = EXPRESSIONS.map((expression) => [expression, inspect(vm.runInThisContext(`(${expression})`), OPTIONS)]);
fs.writeFileSync(path.join(import.meta.dirname, "inspect.json"), `${JSON.stringify(vectors, null, 1)}\n`);
