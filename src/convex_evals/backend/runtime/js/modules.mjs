// ES modules that are compiled once for all contexts.
//
// V8 remembers what it has compiled by the text and by the options that the host attached to it. vm.SourceTextModule
// attaches a symbol of its own to every module, by which Node finds its callbacks for `import()` and `import.meta`: so
// nothing would ever be found again, and what is remembered would keep the context alive. Modules without either get
// the same symbol each time; for that they bypass SourceTextModule and extend the class it is made of.
import v8 from "node:v8";
import vm from "node:vm";

const Module = Object.getPrototypeOf(vm.SourceTextModule);
const WRAP = Object.getOwnPropertySymbols(new vm.SourceTextModule("")).find(({ description }) => description === "kWrap");
const NO_CALLBACKS = Symbol("convex");

class SharedModule extends Module {
  constructor(source, { context, identifier }) {
    // Node's class hands the place of `cachedData` on; a symbol there is taken for the host's options.
    super({ sourceText: source, context, identifier, lineOffset: 0, columnOffset: 0, cachedData: NO_CALLBACKS });
    this.moduleRequests = this[WRAP].getModuleRequests();
  }

  linkRequests(modules) {
    this[WRAP].link(modules.map((module) => module[WRAP]));
  }

  instantiate() {
    this[WRAP].instantiate();
  }

  hasAsyncGraph() {
    return this[WRAP].hasAsyncGraph;
  }
}

/** A module for one context, of a ModuleSource. Throws what the engine makes of a syntax error. */
export function compileModule({ source, needsCallbacks }, options) {
  if (!needsCallbacks) return new SharedModule(source, options);
  v8.setFlagsFromString("--no-compilation-cache");
  try {
    return new vm.SourceTextModule(source, options);
  } finally {
    v8.setFlagsFromString("--compilation-cache");
  }
}
