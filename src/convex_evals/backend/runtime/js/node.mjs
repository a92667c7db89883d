// The worker for "use node" modules: real Node.js, modules kept between calls, one action at a time.
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as analyze from "./analyze.mjs";
import { Channel, channelFds } from "./channel.mjs";
import { CodeLibrary } from "./code.mjs";
import { logLine } from "./log_lines.mjs";
import { usesLessThan } from "./memory.mjs";
import { Network } from "./network.mjs";
import { NodeAction } from "./node_action.mjs";
import { NodeErrors } from "./node_errors.mjs";
import { installCommonJs, installConsole, installConvex } from "./node_globals.mjs";

const [, , , , mode, folder] = process.argv;
const USER = path.join(folder, "user");
const SHOWN_LOGS = 100;
const REUSABLE_MB = 256;
const exit = process.exit.bind(process);

class NodeWorker {
  #current = undefined;
  #isImporting = false;
  #importLogs = [];
  #code = undefined;
  #errors = new NodeErrors(USER);

  constructor() {
    this.channel = new Channel(channelFds(), {
      onJson: (message) => this.#receive(message),
      onBytes: (channel, bytes) => this.#current?.received(channel, bytes),
    });
    this.network = new Network((message) => this.channel.send(message), mode);
    this.library = new CodeLibrary((question) => this.channel.ask(question), "node");
    installCommonJs(USER);
    installConsole((level, messages) => this.#log(level, messages));
    installConvex(() => (this.#isImporting ? undefined : this.#current));
    process.on("unhandledRejection", (reason) => this.#die(this.describe(reason)));
    process.on("uncaughtException", (error) => this.#die(this.describe(error)));
    process.exit = (status = process.exitCode ?? 0) => this.#die({ message: `process.exit() called with exit code ${status}` });
  }

  describe(error) {
    return this.#errors.describe(error, this.#code);
  }

  async importModule(modulePath) {
    this.#isImporting = true;
    try {
      return await import(pathToFileURL(path.join(USER, modulePath)).href);
    } finally {
      this.#isImporting = false;
    }
  }

  finished(isReusable = true) {
    this.#current = undefined;
    if (isReusable && usesLessThan(REUSABLE_MB)) setImmediate(() => this.channel.send({ op: "idle" }));
    else this.channel.end();
  }

  /** The state of the process is not to be trusted any more. */
  #die(failure) {
    this.#current?.finish(undefined, failure);
    exit(1);
  }

  #log(level, messages) {
    if (this.#current) this.#current.log(level, messages);
    else this.#importLogs.push(logLine(level, messages));
  }

  #receive(message) {
    switch (message.op) {
      case "run":
        this.#code = this.library.code(message.code);
        this.#current = new NodeAction(this, message);
        return this.#current.start();
      case "evaluate":
        return this.#evaluate(message);
      case "network":
        return this.network.open(message);
      case "connected":
      case "found":
        return this.network.answer(message);
      case "replies":
        return this.#current?.answer(message.seq, message.replies[0]);
      case "operation":
        return this.#current?.answer(message.seq, message);
      default:
        return undefined;
    }
  }

  async #evaluate({ id, code, paths }) {
    this.#code = this.library.code(code);
    this.#importLogs = [];
    const results = [];
    for (const modulePath of paths) {
      const facts = await this.#inspect(modulePath);
      results.push(facts);
      if (facts.thrown !== undefined) break;
    }
    this.channel.send({ op: "answer", id, result: results });
    this.finished();
  }

  async #inspect(modulePath) {
    const describe = (error) => this.#thrown(this.describe(error).message);
    try {
      const namespace = await this.importModule(modulePath);
      const source = this.#code.module(modulePath).source;
      const module = { path: modulePath, source, sourceMap: this.#code.mapText(modulePath), environment: "node" };
      return analyze.inspectFunctions(namespace, module, describe);
    } catch (error) {
      return { thrown: describe(error) };
    }
  }

  #thrown(text) {
    const logs = this.#importLogs.slice(-SHOWN_LOGS).map(({ level, messages }) => `[${level}] ${messages.join(" ")}`);
    return { text, logs };
  }
}

process.env = { ...process.env };
const worker = new NodeWorker();
worker.channel.send({ op: "ready" });
