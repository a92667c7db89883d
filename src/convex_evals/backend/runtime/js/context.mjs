// A realm for user code: a vm context furnished by realm/*.js, with the modules of one component definition.
//
// What user code asks for goes to `driver`, the object that currently owns the realm: first one that serves the import
// phase, later the execution. Nothing but primitives and bytes crosses; see realm/kernel.js.
import vm from "node:vm";
import { AsyncLocalStorage } from "node:async_hooks";
import { Interrupted, TimeUp } from "./failures.mjs";
import { ModuleGraph } from "./loader.mjs";
import { asyncContextHost } from "./host/async_context.mjs";
import { UNLIMITED, atMost } from "./limits.mjs";
import { textHost } from "./host/text.mjs";
import { urlHost } from "./host/url.mjs";
import { logLine } from "./log_lines.mjs";

const fs = process.getBuiltinModule("node:fs"); // see channel.mjs
const ENTER = new vm.Script("__convexEnter()", { filename: "convex:enter" });
const BOUNDARY = new AsyncLocalStorage(); // what user code enters with AsyncLocalStorage ends with the entry
const MAX_LOG_LINES = 257; // one more than is shown, so that Python knows of the overflow
const DESCRIBE_MS = 1000;
const STOPPED = {
  ERR_SCRIPT_EXECUTION_TIMEOUT: () => new TimeUp(),
  ERR_SCRIPT_EXECUTION_INTERRUPTED: () => new Interrupted(),
};

function realmScript() {
  const folder = new URL("./realm/", import.meta.url);
  const entries = fs.readdirSync(folder).map((file) => {
    const source = fs.readFileSync(new URL(file, folder), "utf8").trimEnd().replace(/;$/, "");
    return `${JSON.stringify(file.replace(/\.js$/, ""))}: (\n${source}\n)`;
  });
  return new vm.Script(`"use strict"; ({ __proto__: null, ${entries.join(",\n")} })`, { filename: "convex:realm" });
}
const REALM = realmScript();

/** Serves the import phase: nothing but log lines may come of it. */
class ImportDriver {
  logs = [];
  failure = undefined;
  log(line) {
    if (this.logs.length < MAX_LOG_LINES) this.logs.push(line);
  }
  syscallNow() {
    return "!syscalls are unsupported at import time";
  }
  fatal(message) {
    this.failure ??= message;
  }
}

export class Context {
  #job = undefined;
  #bytes = undefined;
  #isOwnQueue;
  #isPure;

  /**
   * `microtasks` is "own" for queries and mutations, whose promise jobs run only while they are entered, and "shared"
   * for actions, which live on the event loop. A `pure` one has neither clock nor randomness while it is imported.
   */
  constructor({ code, env, microtasks = "own", pure = false }) {
    this.code = code;
    this.env = env;
    this.clockRead = false;
    this.driver = new ImportDriver();
    this.#isOwnQueue = microtasks === "own";
    this.#isPure = pure;
    this.context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
      codeGeneration: { strings: false, wasm: true },
      ...(this.#isOwnQueue ? { microtaskMode: "afterEvaluate" } : {}),
    });
    const factories = REALM.runInContext(this.context);
    this.kernel = factories.kernel(this.#host(), factories);
    this.kernel.seedImports(code.importSeed);
    this.modules = new ModuleGraph(this);
  }

  /** Runs `job` and the promise jobs that follow from it, bounded by `limit`. Throws TimeUp or Interrupted. */
  enter(job, limit = UNLIMITED) {
    try {
      BOUNDARY.run(undefined, () => this.#run(job, limit));
    } catch (error) {
      throw STOPPED[error?.code]?.() ?? error;
    }
  }

  /** Like `enter`, from inside an entry and on its time: watching the clock costs more than most jobs do. */
  reenter(job) {
    this.#run(job, UNLIMITED);
  }

  #run(job, limit) {
    this.#job = job;
    try {
      ENTER.runInContext(this.context, limit);
    } finally {
      this.#job = undefined;
    }
  }

  /** Evaluates a module and returns its namespace. Throws ImportFailure, TimeUp or Interrupted. */
  importModule(path, limit = UNLIMITED) {
    return BOUNDARY.run(undefined, () => this.modules.evaluate(path, limit));
  }

  /** The end of the import phase: from here on `driver` answers. Returns the log lines of the import. */
  begin(driver, { kind, now, seed, ahead }) {
    const { logs } = this.driver;
    this.driver = driver;
    this.kernel.begin(kind, now, seed, ahead);
    return logs;
  }

  /** `{message, data?}` of whatever user code threw. Getters of the thrown object may run, so this is an entry too. */
  describe(error) {
    let text;
    try {
      this.enter(() => {
        text = this.kernel.describe(error);
      }, atMost(DESCRIBE_MS));
      return JSON.parse(text);
    } catch {
      return { message: "Uncaught Error\n" };
    }
  }

  /** Settles an operation with a JSON value and, if given, bytes. */
  finish(id, value, bytes = undefined) {
    this.#bytes = bytes;
    this.kernel.finish(id, JSON.stringify(value ?? null), bytes === undefined ? -1 : bytes.byteLength);
    this.#bytes = undefined;
  }

  #host() {
    const own = {
      __proto__: null,
      importTime: this.code.importTime,
      job: () => {
        const job = this.#job;
        this.#job = undefined;
        job?.();
      },
      fill: (target) => {
        target.set(this.#bytes);
      },
      env: (name) => this.env.get(name),
      envRefusal: (name) => this.env.refusal(name),
      isPure: this.#isPure,
      position: (path, line, column) => {
        const position = this.code.position(path, line, column);
        return position && `${position.source}:${position.line}:${position.column}`;
      },
      clockWasRead: () => {
        this.clockRead = true;
      },
      preciseNow: () => performance.timeOrigin + performance.now(),
      log: (level, messages) => this.driver.log(logLine(level, JSON.parse(messages))),
      fatal: (message) => this.driver.fatal(message),
      refuse: (message) => this.driver.refuse(message),
      resolved: (text) => this.driver.resolved(text),
      rejected: (description) => this.driver.rejected(JSON.parse(description)),
      syscall: (id, name, args) => this.driver.syscall(id, name, args),
      syscallNow: (name, args) => this.driver.syscallNow(name, args),
      operation: (id, name, args, bytes) =>
        this.driver.operation(id, name, JSON.parse(args), bytes && Buffer.from(bytes)),
      startTimer: (id, milliseconds) => this.driver.startTimer(id, milliseconds),
      stopTimer: (id) => this.driver.stopTimer(id),
      newFetch: () => this.driver.newFetch(),
      abandonFetch: (id) => this.driver.abandonFetch(id),
      respond: (status, headers) => this.driver.respond(status, JSON.parse(headers)),
      isRequestAborted: () => this.driver.isRequestAborted(),
    };
    return Object.freeze(Object.assign(own, textHost(), urlHost(), asyncContextHost()));
  }
}
