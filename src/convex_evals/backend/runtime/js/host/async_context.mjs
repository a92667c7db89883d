// Node's AsyncLocalStorage for realm/async_context.js. Storages, snapshots and stores are only held, never looked at.
import { AsyncLocalStorage } from "node:async_hooks";

export function asyncContextHost() {
  const storages = [];
  const snapshots = [];
  return {
    newStorage: () => storages.push(new AsyncLocalStorage()) - 1,
    runWithStore: (id, store, callback) => storages[id].run(store, () => callback()),
    getStore: (id) => storages[id].getStore(),
    enterStore: (id, store) => {
      storages[id].enterWith(store);
    },
    takeSnapshot: () => snapshots.push(AsyncLocalStorage.snapshot()) - 1,
    runInSnapshot: (id, callback) => snapshots[id](() => callback()),
  };
}
