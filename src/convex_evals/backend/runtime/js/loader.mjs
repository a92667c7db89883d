// The module graph of one context. All modules are ES modules named `convex:/<path>`; linking is synchronous.
import { ModuleSource } from "./code.mjs";
import { ImportFailure, Interrupted, TimeUp } from "./failures.mjs";
import { UNLIMITED } from "./limits.mjs";
import { compileModule } from "./modules.mjs";

const SCHEME = "convex:/";

function resolve(specifier, referrer) {
  const isRelative = /^(\.{0,2}\/)/.test(specifier);
  if (!isRelative && !URL.canParse(specifier)) {
    throw new ImportFailure({
      message: `Relative import path "${specifier}" not prefixed with / or ./ or ../ from "${SCHEME}${referrer}"`,
    });
  }
  const url = new URL(specifier, SCHEME + referrer);
  if (url.protocol !== "convex:") {
    throw new ImportFailure({ message: `Unsupported scheme (${url.protocol.slice(0, -1)}) in ${url.href}` });
  }
  return url.pathname.replace(/^\//, "");
}

export class ModuleGraph {
  #owner;
  #modules = new Map();

  constructor(owner) {
    this.#owner = owner;
  }

  /** Throws ImportFailure, TimeUp or Interrupted. */
  evaluate(path, limit = UNLIMITED) {
    const root = this.#load(path);
    if (root.status === "evaluated") return root.namespace;
    if (root.status === "unlinked") this.#guard(() => root.instantiate());
    if (root.hasAsyncGraph()) this.#evaluateAsync(root, path, limit);
    else this.#run(root, limit);
    this.#requireSuccess(root);
    return root.namespace;
  }

  #load(path) {
    const found = this.#modules.get(path);
    if (found) return found;
    const fresh = [];
    const root = this.#compile(path, fresh);
    for (const module of fresh) {
      const dependencies = module.moduleRequests.map(({ specifier }) =>
        this.#compile(resolve(specifier, pathOf(module)), fresh),
      );
      module.linkRequests(dependencies);
    }
    return root;
  }

  /** Adds what it compiles to `fresh`, to be linked by the caller. */
  #compile(path, fresh) {
    const found = this.#modules.get(path);
    if (found) return found;
    const source = this.#owner.code.module(path);
    if (source.error !== undefined) throw new ImportFailure({ message: source.error });
    const module = this.#guard(() => this.#construct(SCHEME + path, source));
    this.#modules.set(path, module);
    fresh.push(module);
    return module;
  }

  #construct(identifier, source) {
    return compileModule(source, {
      context: this.#owner.context,
      identifier,
      initializeImportMeta: () => {
        throw this.#owner.kernel.makeTypeError("import.meta unsupported");
      },
      importModuleDynamically: (specifier, referrer) => this.#importDynamically(specifier, referrer),
    });
  }

  #importDynamically(specifier, referrer) {
    this.#owner.driver.dynamicImport?.();
    if (!this.#owner.driver.allowsDynamicImport) {
      throw this.#owner.kernel.makeTypeError("dynamic module import unsupported");
    }
    try {
      const path = resolve(specifier, pathOf(referrer));
      this.evaluate(path);
      return this.#modules.get(path);
    } catch (error) {
      if (error instanceof ImportFailure) throw error.thrown ?? this.#owner.kernel.makeTypeError(error.message);
      throw error;
    }
  }

  #run(module, limit) {
    const started = performance.now();
    // Without top-level await the outcome is in `status` when the call returns; the promise says nothing new, except
    // that a module which was stopped has no error of its own. (The engine's clock may be a little ahead of ours.)
    module.evaluate(limit).catch(() => {});
    const isStopped = module.status === "errored" && module.error === null;
    if (isStopped && limit.breakOnSigint) throw new Interrupted();
    if (isStopped && performance.now() - started >= limit.timeout * 0.9) throw new TimeUp();
  }

  /** With top-level await somewhere in the graph: a module that imports the root runs once all of them have settled. */
  #evaluateAsync(root, path, limit) {
    const source = new ModuleSource(`import ${JSON.stringify(SCHEME + path)}; export const settled = true;`);
    const probe = this.#construct(`convex:settled`, source);
    probe.linkRequests([root]);
    probe.instantiate();
    this.#run(probe, limit);
    if (root.status === "errored") return;
    try {
      void probe.namespace.settled; // in its dead zone until then
    } catch {
      throw new ImportFailure({ message: "Top-level awaits in source files are unsupported" });
    }
  }

  #requireSuccess(root) {
    const { failure } = this.#owner.driver;
    if (failure !== undefined) throw new ImportFailure({ message: failure });
    if (root.status === "errored") throw this.#failure(root.error);
  }

  #guard(step) {
    try {
      return step();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error) {
    return new ImportFailure(this.#owner.describe(error), error);
  }
}

function pathOf(module) {
  return module.identifier.slice(SCHEME.length);
}
