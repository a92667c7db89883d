// The async syscalls of a query or mutation, in call order. They are answered in that order, group by group; the
// promises of a group resolve together before user code runs again.

const READS = new Set(["1.0/get", "1.0/queryStreamNext"]);
const URLS = new Set(["1.0/storageGetUrl"]);
/** Calls that cannot run user code or leave the transaction: several of them may travel in one message. */
const PLAIN = new Set([
  ...READS,
  ...URLS,
  "1.0/insert",
  "1.0/shallowMerge",
  "1.0/replace",
  "1.0/remove",
  "1.0/count",
  "1.0/queryPage",
]);
const GROUP = 16;
const MESSAGE = 64;

export class SyscallQueue {
  #items = [];
  #streams;

  constructor(streams) {
    this.#streams = streams;
  }

  get isEmpty() {
    return this.#items.length === 0;
  }

  push(id, name, args) {
    this.#items.push({ id, name, args, reply: undefined });
  }

  /** A slot for an operation of the worker itself, filled when it is done. */
  pushOperation(id) {
    const item = { id, name: undefined, args: undefined, reply: undefined };
    this.#items.push(item);
    return item;
  }

  get front() {
    return this.#items[0];
  }

  /** Removes and returns the first group if all of it is answered. */
  takeAnswered() {
    const length = this.#groupLength();
    const group = this.#items.slice(0, length);
    for (const item of group) if (!this.#answer(item)) return undefined;
    this.#items.splice(0, length);
    return group;
  }

  /** What to send so that the first group can be answered: `[{item, name, args}, …]`. */
  takeUnsent() {
    const calls = [];
    const fetching = new Set();
    for (const item of this.#items) {
      const isPlain = PLAIN.has(item.name);
      if (item.operation || (calls.length > 0 && !isPlain)) break;
      if (item.reply === undefined) this.#addCall(item, calls, fetching);
      if (!isPlain || calls.length >= MESSAGE) break;
    }
    return calls;
  }

  #addCall(item, calls, fetching) {
    if (item.name !== "1.0/queryStreamNext") {
      calls.push({ item, name: item.name, args: item.args });
      return;
    }
    const queryId = queryIdOf(item);
    if (fetching.has(queryId) || !this.#streams.has(queryId)) return;
    fetching.add(queryId);
    calls.push({ item, name: "query/fetch", args: this.#streams.fetchArgs(queryId) });
  }

  accept(calls, replies) {
    calls.forEach(({ item, name }, index) => {
      const reply = replies[index];
      if (name === "query/fetch" && reply.error === undefined) this.#streams.fetched(queryIdOf(item), reply.result);
      else item.reply = reply;
    });
  }

  #groupLength() {
    const kind = [READS, URLS].find((names) => names.has(this.#items[0].name));
    if (kind === undefined) return 1;
    const end = this.#items.findIndex((item, index) => index === GROUP || !kind.has(item.name));
    return end < 0 ? this.#items.length : end;
  }

  #answer(item) {
    if (item.reply === undefined && item.name === "1.0/queryStreamNext") item.reply = this.#pull(queryIdOf(item));
    return item.reply !== undefined;
  }

  #pull(queryId) {
    if (!this.#streams.has(queryId)) return { error: "in-progress query not found" };
    const result = this.#streams.pull(queryId);
    return result === undefined ? undefined : { result };
  }
}

function queryIdOf(item) {
  item.queryId ??= JSON.parse(item.args).queryId;
  return item.queryId;
}
