// Entries of user code can be ended by a signal; see functions_worker.py. For that Node listens in a thread of its own, which it
// starts with every entry and joins after it: on a busy machine that takes longer than most functions do. A listener
// that was started beforehand serves all entries. Node has no public name for that, so the worker runs with
// `--expose-internals`; user code, in its own realms, can name no module but its own.
import { createRequire } from "node:module";

/** From now on the signal ends the entry that runs, and does nothing when there is none. */
export function listenForSignals() {
  const { internalBinding } = createRequire(import.meta.url)("internal/test/binding");
  internalBinding("contextify").startSigintWatchdog();
}
