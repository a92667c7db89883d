// Where a function's handler stands in its TypeScript source.
//
// V8 knows the offset at which a function's parameters begin. The inspector would tell it too, but it is switched off
// in a sandboxed process, so one native call is compiled when this file is loaded. The syntax for native calls is on
// for that moment only, never while code of an app is parsed; bytecode is kept from then on, because V8 could not
// parse this function a second time.
import { SourceMap } from "node:module";
import v8 from "node:v8";
import vm from "node:vm";

const { toString } = Function.prototype;
const { apply } = Reflect;

/** The offset in its script. */
const offsetOf = compileNative("(callable) => %FunctionGetScriptSourcePosition(callable)");

function compileNative(source) {
  v8.setFlagsFromString("--no-flush-bytecode");
  v8.setFlagsFromString("--allow-natives-syntax");
  const native = vm.runInThisContext(source);
  native(compileNative); // functions are compiled when they are called first
  v8.setFlagsFromString("--no-allow-natives-syntax");
  return native;
}

/** Finds positions in one module; those of functions that come from other modules are null. */
export class Positions {
  #source;
  #map;
  #lineStarts = [0];

  constructor(source, sourceMap) {
    this.#source = source;
    this.#map = parseMap(sourceMap);
    for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  of(callable) {
    if (this.#map === null || typeof callable !== "function") return null;
    const offset = offsetOf(callable);
    if (!this.#contains(callable, offset)) return null;
    const line = this.#lineStarts.findLastIndex((start) => start <= offset);
    // One line and one column further than the handler: that is where Convex looks, and it decides the order.
    const entry = this.#map.findEntry(line + 1, offset - this.#lineStarts[line] + 1);
    return entry.originalLine === undefined ? null : { line: entry.originalLine, column: entry.originalColumn };
  }

  /** Whether the function's text is in this source around that offset. */
  #contains(callable, offset) {
    const text = apply(toString, callable, []);
    const start = this.#source.lastIndexOf(text, offset);
    return start !== -1 && offset < start + text.length;
  }
}

function parseMap(text) {
  if (!text) return null;
  try {
    return new SourceMap(JSON.parse(text));
  } catch {
    return null; // an unusable map means unknown positions, as if there were none
  }
}
