// Database queries that user code is reading row by row. Rows are fetched from Python ahead of time, in batches; Python
// is told how many of them were really pulled.

const FIRST_BATCH = 16;
const BATCH = 128;

class QueryStream {
  rows = [];
  isDone = false;
  isOpen = false; // known to Python
  fetched = 0;

  constructor(query) {
    this.query = query;
    const limits = (query?.operators ?? []).map(({ limit }) => limit).filter((limit) => typeof limit === "number");
    this.limit = Math.min(...limits, Infinity);
  }

  get batchSize() {
    const size = this.isOpen ? BATCH : FIRST_BATCH;
    return Math.max(1, Math.min(size, this.limit - this.fetched));
  }
}

export class QueryStreams {
  #streams = new Map();
  #pulled = new Map();
  #lastId = -1;

  open(argsText) {
    this.#streams.set(++this.#lastId, new QueryStream(JSON.parse(argsText).query));
    return this.#lastId;
  }

  close(id) {
    return this.#streams.delete(id);
  }

  has(id) {
    return this.#streams.has(id);
  }

  /** The next row as the JSON text the SDK expects, or undefined when more must be fetched. */
  pull(id) {
    const stream = this.#streams.get(id);
    if (stream.rows.length === 0 && !stream.isDone) return undefined;
    this.#pulled.set(id, (this.#pulled.get(id) ?? 0) + 1);
    if (stream.rows.length > 0) return `{"value":${JSON.stringify(stream.rows.shift())},"done":false}`;
    this.#streams.delete(id);
    return '{"value":null,"done":true}';
  }

  /** Arguments of the `query/fetch` call that brings more rows. */
  fetchArgs(id) {
    const stream = this.#streams.get(id);
    const args = { queryId: id, max: stream.batchSize };
    if (!stream.isOpen) args.query = stream.query;
    stream.isOpen = true;
    return JSON.stringify(args);
  }

  fetched(id, resultText) {
    const stream = this.#streams.get(id);
    if (stream === undefined) return; // closed in the meantime
    const { rows, done } = JSON.parse(resultText);
    stream.rows.push(...rows);
    stream.fetched += rows.length;
    stream.isDone = done;
  }

  /** How many rows were pulled from each query since the last call: `[[id, count], …]`. */
  takePulled() {
    const counts = [...this.#pulled];
    this.#pulled.clear();
    return counts;
  }
}
