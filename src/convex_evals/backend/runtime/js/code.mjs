// Deployed code, pulled from Python on first use and kept for the last few versions.
import { SourceMap } from "node:module";

const KEPT_VERSIONS = 24;
const KEPT_ENVIRONMENTS = 24;

// An `import` that is not the beginning of a declaration. Words in strings and comments count too; that costs only time.
const IMPORT_EXPRESSION = /\bimport\b(?!\s*[\w$"'{*])/;

export class ModuleSource {
  constructor(source) {
    this.source = source;
    this.needsCallbacks = IMPORT_EXPRESSION.test(source); // for `import()` and `import.meta`; see modules.mjs
  }
}

/** The modules of one component definition in one version. */
export class Code {
  #ask;
  #modules = new Map();
  #maps = new Map();

  constructor(key, environment, { seed, now }, ask) {
    this.key = key;
    this.environment = environment;
    this.importSeed = seed;
    this.importTime = now;
    this.#ask = ask;
  }

  /** A ModuleSource, or `{error}` when there is no such module. */
  module(path) {
    if (!this.#modules.has(path)) {
      const { source, error } = this.#ask({ ask: "module", code: this.key, environment: this.environment, path });
      this.#modules.set(path, error === undefined ? new ModuleSource(source) : { error });
    }
    return this.#modules.get(path);
  }

  mapText(path) {
    return this.#ask({ ask: "map", code: this.key, path }).map;
  }

  /** 1-based line and column as V8 counts them → where that is in the author's file; undefined without a map. */
  position(path, line, column) {
    const entry = this.#map(path)?.findEntry(line - 1, column - 1);
    if (entry?.originalSource === undefined) return undefined;
    return { source: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn };
  }

  #map(path) {
    if (!this.#maps.has(path)) {
      this.#maps.set(path, parseMap(this.mapText(path)));
    }
    return this.#maps.get(path);
  }
}

function parseMap(text) {
  if (!text) return undefined;
  try {
    return new SourceMap(JSON.parse(text));
  } catch {
    return undefined; // a broken map only costs the frames of its module
  }
}

/** Environment variables. `missing(name)` is the error of a look-up that finds nothing; undefined when it may. */
export class Variables {
  #values;
  #missing;

  constructor(values, missing = () => undefined) {
    this.#values = new Map(Object.entries(values));
    this.#missing = missing;
  }

  get(name) {
    return this.#values.get(name);
  }

  refusal(name) {
    return this.#missing(name);
  }
}

class Recent {
  #entries = new Map();

  constructor(limit, load) {
    this.limit = limit;
    this.load = load;
  }

  get(key) {
    const value = this.#entries.get(key) ?? this.load(key);
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.limit) this.#entries.delete(this.#entries.keys().next().value);
    return value;
  }
}

export class CodeLibrary {
  /** `environment` is the one this worker runs: "isolate" or "node". */
  constructor(ask, environment = "isolate") {
    this.codes = new Recent(KEPT_VERSIONS, (key) => new Code(key, environment, ask({ ask: "code", code: key }), ask));
    this.environments = new Recent(KEPT_ENVIRONMENTS, (id) => new Variables(ask({ ask: "env", env: id }).env));
  }

  code(key) {
    return this.codes.get(key);
  }

  /** Environment variables by the digest of their contents. */
  environment(id) {
    return this.environments.get(id);
  }
}
