// The worker for actions and HTTP actions of the default runtime: one at a time.
import { ActionExecution } from "./action.mjs";
import { Channel, channelFds } from "./channel.mjs";
import { CodeLibrary } from "./code.mjs";
import { hardenIntrinsics } from "./harden.mjs";
import { usesLessThan } from "./memory.mjs";
import { Network } from "./network.mjs";

const REUSABLE_MB = 64;

const [, , , , mode] = process.argv;

class ActionsWorker {
  #current = undefined;

  constructor() {
    this.channel = new Channel(channelFds(), {
      onJson: (message) => this.#receive(message),
      onBytes: (channel, bytes) => this.#current?.received(channel, bytes),
    });
    this.network = new Network((message) => this.channel.send(message), mode);
    this.library = new CodeLibrary((question) => this.channel.ask(question));
    process.on("unhandledRejection", (reason) => this.#current?.unhandled(reason));
    process.on("uncaughtException", (error) => this.#current?.unhandled(error));
  }

  /** Says so only when the event loop turns again: an action that left an endless loop behind never gets there. */
  finished() {
    this.#current = undefined;
    if (usesLessThan(REUSABLE_MB)) setImmediate(() => this.channel.send({ op: "idle" }));
    else this.channel.end();
  }

  #receive(message) {
    switch (message.op) {
      case "run":
        this.#current = new ActionExecution(this, message);
        return this.#current.start();
      case "replies":
        return this.#current?.replies(message);
      case "operation":
        return this.#current?.operationDone(message);
      case "bodyEnd":
        return this.#current?.bodyEnd();
      case "network":
        return this.network.open(message);
      case "connected":
      case "found":
        return this.network.answer(message);
      case "abort":
        return this.#current?.abort();
      default:
        throw new Error(`unknown message ${message.op}`);
    }
  }
}

const worker = new ActionsWorker();
hardenIntrinsics();
worker.channel.send({ op: "ready" });
