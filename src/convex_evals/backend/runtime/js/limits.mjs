// How long user code may run, as options of node:vm. The engine is stopped from another thread; `atMost` starts one for
// every entry, with an event loop of its own, which takes longer than most functions do.

export const UNLIMITED = Object.freeze({});

/** Until Python sends a signal; see runtime/functions_worker.py. */
export const WATCHED = Object.freeze({ breakOnSigint: true });

export function atMost(milliseconds) {
  return { timeout: Math.max(1, Math.ceil(milliseconds)) };
}
