// Contexts with a module graph already imported. The import phase has a fixed clock and seed, so it does not matter
// when it runs: after a call of a module, the context for the next one is made while nobody waits.
import { Context } from "./context.mjs";
import { WATCHED } from "./limits.mjs";

const MAX_SPARES = 12;

export class Spares {
  #library;
  #turns;
  #spares = new Map(); // key → spare, oldest first

  constructor(library, turns) {
    this.#library = library;
    this.#turns = turns;
  }

  /** `{context, namespace}`, prepared or made now. Throws ImportFailure or Interrupted. */
  take(target) {
    const key = keyOf(target);
    const spare = this.#spares.get(key);
    if (spare === undefined) return this.#make(target);
    this.#spares.delete(key);
    return spare;
  }

  /** Called when a function of this module has run: another call is likely, and its import ends. */
  prepare(target) {
    const key = keyOf(target);
    // A module that fails to import, also by a rejection, gets no spare: the next call meets that failure and tells.
    const owner = { unhandled: () => this.#spares.delete(key) };
    this.#turns.whenIdle(owner, () => {
      if (this.#spares.has(key)) return;
      try {
        this.#spares.set(key, this.#make(target));
      } catch {
        return;
      }
      if (this.#spares.size > MAX_SPARES) this.#spares.delete(this.#spares.keys().next().value);
    });
  }

  #make({ code, env, path }) {
    const context = new Context({ code: this.#library.code(code), env: this.#library.environment(env) });
    return { context, namespace: context.importModule(path, WATCHED) };
  }
}

function keyOf({ code, env, path }) {
  return `${code}\n${env}\n${path}`;
}
