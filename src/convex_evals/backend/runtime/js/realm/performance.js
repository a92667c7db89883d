// User timing. The time origin is the last deploy.
($) => {
  "use strict";
  const KEY = Symbol();
  const now = () => $.use("clock").sinceDeploy();

  class PerformanceEntry {
    #fields;
    constructor(key, name, entryType, startTime, duration, detail) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      this.#fields = { name, entryType, startTime, duration, detail };
    }
    get name() {
      return this.#fields.name;
    }
    get entryType() {
      return this.#fields.entryType;
    }
    get startTime() {
      return this.#fields.startTime;
    }
    get duration() {
      return this.#fields.duration;
    }
    get detail() {
      return this.#fields.detail;
    }
    toJSON() {
      return { ...this.#fields };
    }
  }
  class PerformanceMark extends PerformanceEntry {
    constructor(name, options = {}) {
      super(KEY, `${name}`, "mark", options?.startTime ?? now(), 0, options?.detail ?? null);
    }
  }
  class PerformanceMeasure extends PerformanceEntry {}

  class Performance {
    #entries = [];
    constructor(key) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }
    get timeOrigin() {
      return $.host.importTime;
    }
    now() {
      return now();
    }
    mark(name, options = {}) {
      const entry = new PerformanceMark(name, options);
      this.#entries.push(entry);
      return entry;
    }
    measure(name, startOrOptions = undefined, endMark = undefined) {
      const options =
        typeof startOrOptions === "object" && startOrOptions !== null
          ? startOrOptions
          : { start: startOrOptions, end: endMark };
      const end = options.end === undefined ? now() : this.#timeOf(options.end);
      const start = options.start === undefined ? 0 : this.#timeOf(options.start);
      const duration = options.duration ?? end - start;
      const entry = new PerformanceMeasure(KEY, `${name}`, "measure", start, duration, options.detail ?? null);
      this.#entries.push(entry);
      return entry;
    }
    #timeOf(mark) {
      if (typeof mark === "number") return mark;
      const entry = this.getEntriesByName(mark, "mark").at(-1);
      if (entry !== undefined) return entry.startTime;
      throw new ($.use("events").DOMException)(`The mark '${mark}' does not exist.`, "SyntaxError");
    }
    getEntries() {
      return [...this.#entries].sort((a, b) => a.startTime - b.startTime);
    }
    getEntriesByType(type) {
      return this.getEntries().filter((entry) => entry.entryType === type);
    }
    getEntriesByName(name, type = undefined) {
      return this.getEntries().filter(
        (entry) => entry.name === name && (type === undefined || entry.entryType === type),
      );
    }
    clearMarks(name = undefined) {
      this.#clear("mark", name);
    }
    clearMeasures(name = undefined) {
      this.#clear("measure", name);
    }
    #clear(type, name) {
      this.#entries = this.#entries.filter(
        (entry) => entry.entryType !== type || (name !== undefined && entry.name !== name),
      );
    }
    toJSON() {
      return { timeOrigin: this.timeOrigin };
    }
    get [Symbol.toStringTag]() {
      return "Performance";
    }
  }

  return { performance: new Performance(KEY), Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure };
};
