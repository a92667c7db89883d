// One run of a Node.js action.
import { setImmediate as nextTurn } from "node:timers/promises";
import { rememberIntrinsics } from "./intrinsics.mjs";
import { cutUtf8, logLine } from "./log_lines.mjs";
import { moveClock } from "./node_globals.mjs";
import { Outstanding } from "./outstanding.mjs";

const FIRST_SEQ = 16;
const MAX_MESSAGE = 65536;
const MAX_PENDING = 1000;
const MAX_FILE = 64 * 1024 * 1024;
const DANGLING = "https://docs.convex.dev/functions/actions#dangling-promises";
const TOO_MANY = "Too many concurrent operations. See https://docs.convex.dev/functions/actions#limits for more information.";

export class NodeAction {
  #worker;
  #run;
  #outstanding = new Outstanding();
  #answers = new Map(); // seq → {resolve, reject}
  #bytes = new Map();
  #lastSeq = FIRST_SEQ;
  #startedAt = performance.now();
  #isLanguageIntact = () => true;
  isFinished = false;

  constructor(worker, run) {
    this.#worker = worker;
    this.#run = run;
  }

  get requestId() {
    return this.#run.requestId;
  }

  get #path() {
    return `Function ${this.#run.module}:${this.#run.name}`;
  }

  async start() {
    try {
      moveClock(this.#run.ahead);
      const action = await this.#find();
      this.#isLanguageIntact = rememberIntrinsics();
      const result = await action.invokeAction(this.requestId, this.#run.args);
      await nextTurn(); // a rejection that nobody handles is reported before, and beats the result
      if (typeof result !== "string") throw new Refusal(`${this.#path} failed. Could not parse return value as json: expected a string`);
      this.finish(result);
    } catch (error) {
      if (this.isFinished) throw error; // the process is damaged and ends
      this.finish(undefined, error instanceof Refusal ? { message: error.message } : this.#worker.describe(error));
    }
  }

  async #find() {
    const { module, name } = this.#run;
    const namespace = await this.#worker.importModule(module);
    if (!(name in namespace)) throw new Refusal(`Couldn't find action \`${name}\` in \`${module}\``);
    const action = namespace[name];
    if (!action?.isAction || typeof action.invokeAction !== "function") {
      throw new Refusal(`\`${name}\` wasn't registered as a Convex action in \`${module}\``);
    }
    return action;
  }

  /** The first outcome counts. */
  finish(result, failure = undefined) {
    if (this.isFinished) return;
    if (failure === undefined) for (const label of new Set(this.#outstanding.labels)) this.log("WARN", [warning(label)]);
    this.isFinished = true;
    if (failure) failure.message = cutUtf8(Buffer.from(failure.message), MAX_MESSAGE);
    this.#send({ op: "done", result, failure, userMs: performance.now() - this.#startedAt });
    this.#worker.finished(this.#isLanguageIntact());
  }

  log(level, messages) {
    if (!this.isFinished) this.#send({ op: "log", logs: [logLine(level, messages)] });
  }

  #send(message) {
    this.#worker.channel.send({ ...message, id: this.#run.id });
  }

  #request(id, message, bytes = undefined) {
    if (this.#answers.size >= MAX_PENDING) return Promise.reject(new Error(TOO_MANY));
    const seq = ++this.#lastSeq;
    const deferred = Promise.withResolvers();
    this.#answers.set(seq, (reply) => {
      this.#outstanding.end(id);
      deferred.resolve(reply);
    });
    if (bytes !== undefined) this.#worker.channel.sendBytes(seq, bytes);
    this.#send({ ...message, seq });
    return deferred.promise.then((reply) => ({ reply, bytes: this.#takeBytes(seq) }));
  }

  #takeBytes(seq) {
    const bytes = this.#bytes.get(seq);
    this.#bytes.delete(seq);
    return bytes;
  }

  async syscall(name, args) {
    const id = Symbol(name);
    this.#outstanding.beginSyscall(id, name);
    const { reply } = await this.#request(id, { op: "calls", calls: [[name, args]] });
    if (reply.error === undefined) return reply.result;
    const error = new Error(reply.error);
    if (reply.data !== undefined) error.data = JSON.parse(reply.data);
    throw error;
  }

  syscallNow(name, args) {
    const { result, error } = this.#worker.channel.ask({ ask: "syscall", id: this.#run.id, name, args });
    if (error !== undefined) throw new Error(error);
    return result;
  }

  async store({ blob, options }) {
    if (!(blob instanceof Blob)) {
      throw new Error(
        "store() expects a Blob. If you are trying to store a Request, `await request.blob()` will give you the correct input.",
      );
    }
    const id = Symbol("store");
    this.#outstanding.beginOperation(id, "storage.store");
    if (blob.size > MAX_FILE) throw new Error(`File is too large (maximum size: 64 MiB): ${blob.size} bytes`);
    const bytes = Buffer.from(await blob.arrayBuffer());
    const args = { contentType: blob.type || null, sha256: options?.sha256 ?? null };
    return valueOf((await this.#request(id, { op: "store", ...args }, bytes)).reply);
  }

  async load({ storageId }) {
    if (typeof storageId !== "string") throw new Error(`storage.get requires a string storageId but received ${storageId}`);
    const id = Symbol("get");
    this.#outstanding.beginOperation(id, "storage.get");
    const { reply, bytes } = await this.#request(id, { op: "load", storageId });
    const value = valueOf(reply);
    return value === null ? null : new Blob([bytes], { type: value.contentType ?? "" });
  }

  // What Python says.

  received(channel, bytes) {
    this.#bytes.set(channel, Buffer.from(bytes));
  }

  answer(seq, reply) {
    this.#answers.get(seq)?.(reply);
    this.#answers.delete(seq);
  }
}

/** Not thrown by user code. */
class Refusal extends Error {}

function valueOf(reply) {
  if (reply.error !== undefined) throw new Error(reply.error);
  return reply.value;
}

function warning(label) {
  return (
    `You have an outstanding ${label} call. Operations should be awaited or they might not run. ` +
    `Not awaiting promises might result in unexpected failures. See ${DANGLING} for more information.`
  );
}
