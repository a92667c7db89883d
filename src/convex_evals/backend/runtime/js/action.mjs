// One run of an action or HTTP action of the default runtime, on the real event loop.
import { Context } from "./context.mjs";
import { ImportFailure } from "./failures.mjs";
import { RequestBody, ResponseBody } from "./http_body.mjs";
import { cutUtf8, logLine } from "./log_lines.mjs";
import { Fetches } from "./ops/fetch.mjs";
import { PURE_OPERATIONS, runOperation } from "./ops/operations.mjs";
import { Outstanding } from "./outstanding.mjs";

const BODY_CHANNEL = 1;
const FIRST_SEQ = 16; // smaller numbers are channels of bodies
const MAX_MESSAGE = 65536;
const BODILESS = ["GET", "HEAD", "OPTIONS"];

export class ActionExecution {
  #worker;
  #run;
  #context;
  #outstanding = new Outstanding();
  #fetches = new Fetches();
  #timers = new Map();
  #answers = new Map(); // seq → what to do with Python's answer
  #bytes = new Map(); // seq → bytes that came ahead of their answer
  #lastSeq = FIRST_SEQ;
  #requestBody = new RequestBody();
  #responseBody;
  #isAborted = false;
  #outcome = undefined;
  #startedAt = performance.now();
  isFinished = false;
  allowsDynamicImport = true;

  constructor(worker, run) {
    this.#worker = worker;
    this.#run = run;
    this.#responseBody = new ResponseBody(
      (bytes) => worker.channel.sendBytes(BODY_CHANNEL, bytes),
      () => this.log(logLine("ERROR", ["HttpResponseTooLarge: HTTP actions support responses up to 20 MiB"])),
    );
  }

  start() {
    const { code, env, module, kind, now, seed, ahead } = this.#run;
    try {
      const { library } = this.#worker;
      this.#context = new Context({ code: library.code(code), env: library.environment(env), microtasks: "shared" });
      const namespace = this.#context.importModule(module);
      for (const line of this.#context.begin(this, { kind, now, seed, ahead })) this.log(line);
      this.#enter(() => this.#context.kernel.invoke(namespace, kind, ...this.#arguments()));
    } catch (error) {
      this.#settle({ failure: this.#describe(error) });
    }
  }

  #arguments() {
    const { module, name, args, requestId, request } = this.#run;
    if (request === undefined) return [module, name, args, requestId];
    const streamId = request.hasBody && !BODILESS.includes(request.method) ? BODY_CHANNEL : null;
    const { method, url, headerPairs, path } = request;
    return [module, JSON.stringify({ method, url, headerPairs, streamId }), path, method];
  }

  #enter(job) {
    try {
      this.#context.enter(job);
    } catch (error) {
      this.#settle({ failure: this.#describe(error) });
    }
  }

  #describe(error) {
    if (error instanceof ImportFailure) return { message: error.message, data: error.data };
    return this.#context?.describe(error) ?? { message: String(error) };
  }

  /** The first outcome counts. It is sent when the promise jobs of this tick are done, as one of them may fail. */
  #settle(outcome) {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    setImmediate(() => this.#finish());
  }

  #finish() {
    if (this.isFinished) return;
    this.isFinished = true;
    const { result, failure } = this.#outcome;
    const { warning } = this.#outstanding;
    if (warning !== undefined && failure === undefined) this.#send({ op: "log", logs: [logLine("WARN", [warning])] });
    if (failure) failure.message = cutUtf8(Buffer.from(failure.message), MAX_MESSAGE);
    this.#send({ op: "done", result, failure, userMs: performance.now() - this.#startedAt });
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#fetches.abandonAll();
    this.#context = undefined;
    this.#worker.finished();
  }

  #send(message) {
    this.#worker.channel.send({ ...message, id: this.#run.id });
  }

  // What Python says.

  replies({ seq, replies: [reply] }) {
    this.#answers.get(seq)?.(reply);
    this.#answers.delete(seq);
  }

  received(channel, bytes) {
    if (channel === BODY_CHANNEL) this.#requestBody.push(Buffer.from(bytes));
    else this.#bytes.set(channel, Buffer.from(bytes));
  }

  bodyEnd() {
    this.#requestBody.end();
  }

  abort() {
    this.#isAborted = true;
    if (!this.isFinished) this.#enter(() => this.#context.kernel.abortRequest());
  }

  // What the realm asks of its driver.

  log(line) {
    if (!this.isFinished) this.#send({ op: "log", logs: [line] });
  }

  fatal(message) {
    this.#settle({ failure: { message } });
  }

  refuse(message) {
    this.#settle({ failure: { message } });
  }

  resolved(result) {
    this.#settle({ result });
  }

  rejected(failure) {
    this.#settle({ failure });
  }

  /** Comes before the outcome of the same tick is sent, and beats it. */
  unhandled(reason) {
    if (this.isFinished || !this.#context) return;
    const failure = this.#describe(reason);
    if (this.#outcome?.failure === undefined) this.#outcome = undefined;
    this.#settle({ failure });
  }

  syscall(id, name, args) {
    if (this.isFinished) return;
    this.#outstanding.beginSyscall(id, name);
    const seq = this.#expect((reply) => {
      const { kernel } = this.#context;
      if (reply.error === undefined) kernel.resolve(id, reply.result);
      else kernel.reject(id, reply.error, reply.data);
    }, id);
    this.#send({ op: "calls", seq, calls: [[name, args]] });
  }

  /** Registers what to do in user code with an answer of Python, and returns its number. */
  #expect(settle, id) {
    const seq = ++this.#lastSeq;
    this.#answers.set(seq, (reply) => {
      if (this.isFinished || !this.#outstanding.end(id)) return;
      this.#enter(() => settle(reply));
    });
    return seq;
  }

  syscallNow(name, args) {
    const { result, error } = this.#worker.channel.ask({ ask: "syscall", id: this.#run.id, name, args });
    return error === undefined ? `=${result}` : `!${error}`;
  }

  operation(id, name, args, bytes) {
    if (this.isFinished) return undefined;
    this.#outstanding.beginOperation(id, name);
    if (name === "storage.store") return this.#store(id, args, bytes);
    if (name === "storage.get") return this.#load(id, args);
    return runOperation(this.#operations, this.#context, name, args, bytes).then((settle) => {
      if (!this.isFinished && this.#outstanding.end(id)) this.#enter(() => settle(id));
    });
  }

  get #operations() {
    return {
      ...PURE_OPERATIONS,
      fetch: (args, bytes) => this.#fetches.start(args, bytes),
      "fetch.read": (args) => this.#fetches.read(args),
      "request.read": () => this.#requestBody.read(),
      "response.write": (_, bytes) => ({ value: this.#responseBody.write(bytes) }),
    };
  }

  #store(id, args, bytes) {
    const seq = this.#expect((reply) => this.#finishStorage(id, reply), id);
    this.#worker.channel.sendBytes(seq, bytes);
    this.#send({ op: "store", seq, ...args });
  }

  #load(id, args) {
    const seq = this.#expect((reply) => {
      this.#finishStorage(id, reply, this.#bytes.get(seq));
      this.#bytes.delete(seq);
    }, id);
    this.#send({ op: "load", seq, ...args });
  }

  #finishStorage(id, reply, bytes = undefined) {
    if (reply.error === undefined) this.#context.finish(id, reply.value, bytes);
    else this.#context.kernel.fail(id, "Error", reply.error);
  }

  /** Python's answer to a storage operation. */
  operationDone({ seq, ...reply }) {
    this.#answers.get(seq)?.(reply);
    this.#answers.delete(seq);
  }

  startTimer(id, milliseconds) {
    const timer = setTimeout(() => this.#enter(() => this.#context.kernel.fireTimer(id)), milliseconds);
    this.#timers.set(id, timer);
  }

  stopTimer(id) {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  newFetch() {
    return this.#fetches.newId();
  }

  abandonFetch(id) {
    this.#fetches.abandon(id);
  }

  respond(status, headers) {
    this.#send({ op: "head", status, headers });
  }

  isRequestAborted() {
    return this.#isAborted;
  }
}
