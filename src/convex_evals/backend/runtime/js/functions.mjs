// The worker for queries and mutations: many executions, interleaved, each in its own context.
import { Channel, channelFds } from "./channel.mjs";
import { CodeLibrary } from "./code.mjs";
import { ModuleEvaluation } from "./evaluation.mjs";
import { Execution } from "./execution.mjs";
import { hardenIntrinsics } from "./harden.mjs";
import { listenForSignals } from "./signals.mjs";
import { Spares } from "./spares.mjs";
import { Turns } from "./turns.mjs";

class FunctionsWorker {
  #executions = new Map();

  constructor() {
    this.channel = new Channel(channelFds(), { onJson: (message) => this.#receive(message) });
    this.turns = new Turns();
    this.library = new CodeLibrary((question) => this.channel.ask(question));
    this.spares = new Spares(this.library, this.turns);
  }

  finished(run, { isImported }) {
    this.#executions.delete(run.id);
    if (isImported) this.spares.prepare({ code: run.code, env: run.env, path: run.module });
  }

  #receive(message) {
    switch (message.op) {
      case "run":
        return this.#start(message);
      case "replies":
        return this.#executions.get(message.id)?.replies(message);
      case "cancel":
        return this.#cancel(message.id);
      case "evaluate":
        return new ModuleEvaluation(this, message).start();
      default:
        throw new Error(`unknown message ${message.op}`);
    }
  }

  #start(run) {
    const execution = new Execution(this, run);
    this.#executions.set(run.id, execution);
    this.turns.push(execution, () => execution.start());
  }

  #cancel(id) {
    this.#executions.get(id)?.cancel();
    this.#executions.delete(id);
  }
}

listenForSignals();
const worker = new FunctionsWorker();
hardenIntrinsics();
worker.channel.send({ op: "ready" });
