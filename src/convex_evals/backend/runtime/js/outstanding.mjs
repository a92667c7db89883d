// The operations an action has begun and not waited for yet.

const RENAMED = { shallowMerge: "patch", queryPage: "paginate" };
const OPERATIONS = {
  fetch: "fetch",
  "fetch.read": "ReadableStream",
  "request.read": "ReadableStream",
  "storage.store": "storage.store",
  "storage.get": "storage.get",
};

export function syscallLabel(name) {
  const short = name.replace(/^1\.0\//, "").replace(/^actions\//, "");
  return RENAMED[short] ?? short;
}

export class Outstanding {
  #labels = new Map(); // id → label; undefined for operations nobody needs to hear of

  get size() {
    return this.#labels.size;
  }

  beginSyscall(id, name) {
    this.#labels.set(id, syscallLabel(name));
  }

  beginOperation(id, name) {
    this.#labels.set(id, OPERATIONS[name]);
  }

  end(id) {
    return this.#labels.delete(id);
  }

  get labels() {
    return [...this.#labels.values()].filter((label) => label !== undefined);
  }

  /** The warning when a function has returned, or undefined. */
  get warning() {
    const { labels } = this;
    if (labels.length === 0) return undefined;
    return (
      `${labels.length} unawaited operation${labels.length === 1 ? "" : "s"}: [${labels.join(", ")}]. ` +
      "Async operations should be awaited or they might not run. " +
      "See https://docs.convex.dev/functions/actions#dangling-promises for more information."
    );
  }
}
