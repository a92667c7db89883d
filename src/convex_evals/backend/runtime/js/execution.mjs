// One run of a query or mutation: enter user code, let its promise jobs run, answer the next syscalls, and again.
import { ImportFailure, Interrupted, TimeUp } from "./failures.mjs";
import { WATCHED } from "./limits.mjs";
import { cutUtf8 } from "./log_lines.mjs";
import { PURE_OPERATIONS, runOperation } from "./ops/operations.mjs";
import { QueryStreams } from "./query_streams.mjs";
import { SyscallQueue } from "./syscall_queue.mjs";

const MAX_LOG_LINES = 257; // one more than is shown, so that Python knows of the overflow
const MAX_MESSAGE = 65536;

export class Execution {
  #worker;
  #run;
  #context;
  #streams = new QueryStreams();
  #queue = new SyscallQueue(this.#streams);
  #logs = [];
  #logCount = 0;
  #spentMs = 0;
  #main = undefined; // {result} or {failure} once the function has settled
  #fatal = undefined; // a failure that user code cannot catch
  #unhandled = []; // rejections nobody handles
  #sent = undefined; // calls that wait for Python
  #isImporting = false;
  isFinished = false;

  /** `run` is the message that asked for it. */
  constructor(worker, run) {
    this.#worker = worker;
    this.#run = run;
  }

  start() {
    const { code, env, module, kind, now, seed, ahead, name, args } = this.#run;
    try {
      const spare = this.#timed(() => this.#worker.spares.take({ code, env, path: module }));
      this.#context = spare.context;
      for (const line of this.#context.begin(this, { kind, now, seed, ahead })) this.log(line);
      this.#step(() => this.#context.kernel.invoke(spare.namespace, kind, module, name, args, ""));
    } catch (error) {
      this.#fail(error);
    }
  }

  get #remainingMs() {
    return this.#run.userMs - this.#spentMs;
  }

  /** User time is processor time of this thread, so that a busy machine does not end honest functions. */
  #timed(work) {
    const start = process.threadCpuUsage();
    try {
      return work();
    } finally {
      const { user, system } = process.threadCpuUsage(start);
      this.#spentMs += (user + system) / 1000;
    }
  }

  /** Enters user code until it waits for somebody else. What follows from that is looked at in a turn of its own. */
  #step(job) {
    try {
      if (this.#remainingMs <= 0) throw new TimeUp();
      this.#timed(() => this.#context.enter(() => this.#drain(job), WATCHED));
      if (this.#remainingMs <= 0) throw new TimeUp();
    } catch (error) {
      return this.#fail(error);
    }
    return this.#worker.turns.push(this, () => this.#advance());
  }

  /** Runs a job and its promise jobs; then those that follow from syscalls which can be answered here. */
  #drain(job) {
    this.#context.reenter(job);
    while (this.#isGoingOn && !this.#queue.isEmpty) {
      const group = this.#queue.takeAnswered();
      if (group === undefined) return;
      this.#context.reenter(() => group.forEach((item) => this.#settle(item)));
    }
  }

  get #isGoingOn() {
    return this.#fatal === undefined && this.#main?.failure === undefined && !this.#isImporting;
  }

  #advance() {
    if (this.isFinished) return undefined;
    if (this.#unhandled.length > 0) this.#fatal ??= this.#context.describe(this.#unhandled[0]);
    if (this.#fatal !== undefined) return this.#finish({ failure: this.#fatal });
    if (this.#main?.failure !== undefined) return this.#finish(this.#main);
    if (this.#isImporting) {
      this.#isImporting = false; // the refusal reaches the realm with the next entry
      return this.#step(() => {});
    }
    if (!this.#queue.isEmpty) return this.#answer();
    return this.#finish(this.#main ?? { failure: { message: "Returned promise will never resolve" } });
  }

  #answer() {
    const group = this.#queue.takeAnswered();
    if (group !== undefined) return this.#step(() => group.forEach((item) => this.#settle(item)));
    if (this.#queue.front.operation) return this.#awaitOperation(this.#queue.front);
    this.#sent = this.#queue.takeUnsent();
    return this.#send({ op: "calls", calls: this.#sent.map(({ name, args }) => [name, args]) });
  }

  #settle({ id, reply }) {
    const { kernel } = this.#context;
    if (reply.settle) reply.settle(id);
    else if (reply.error === undefined) kernel.resolve(id, reply.result);
    else kernel.reject(id, reply.error, reply.data);
  }

  /** Python's answers to the calls sent last. */
  replies({ replies, userMs }) {
    if (this.isFinished) return;
    this.#spentMs += userMs;
    const fatal = replies.find((reply) => reply.fatal);
    if (fatal) {
      this.#finish({ failure: { message: fatal.error, data: fatal.data } });
      return;
    }
    this.#queue.accept(this.#sent, replies);
    this.#sent = undefined;
    this.#worker.turns.push(this, () => this.#advance());
  }

  #awaitOperation(item) {
    const start = performance.now();
    const timer = setTimeout(() => this.#fail(new TimeUp()), Math.max(1, this.#remainingMs));
    item.operation.then(() => {
      clearTimeout(timer);
      this.#spentMs += performance.now() - start;
      this.#worker.turns.push(this, () => this.#advance());
    });
  }

  /** Nobody waits for it any more. */
  cancel() {
    this.isFinished = true;
    this.#context = undefined;
  }

  #fail(error) {
    if (error instanceof Interrupted && this.#remainingMs > 0) return this.#interrupted();
    if (error instanceof TimeUp || error instanceof Interrupted) {
      const seconds = Math.ceil(this.#run.userMs / 1000);
      this.#finish({
        failure: { message: `Function execution timed out (maximum duration: ${seconds}s)`, catchable: false },
      });
    } else if (error instanceof ImportFailure) {
      this.#finish({ failure: { message: error.message, data: error.data } });
    } else {
      this.#finish({ failure: this.#context ? this.#context.describe(error) : { message: String(error) } });
    }
  }

  /** Another one was meant, which has just ended. Python decides what becomes of this one. */
  #interrupted() {
    this.isFinished = true;
    this.#send({ op: "interrupted" });
    this.#end();
  }

  #finish({ result, failure }) {
    if (this.isFinished) return;
    this.isFinished = true;
    if (failure) failure.message = cutUtf8(Buffer.from(failure.message), MAX_MESSAGE);
    this.#send({
      op: "done",
      result,
      failure,
      clockRead: this.#context?.clockRead ?? false,
    });
    this.#end();
  }

  #end() {
    this.#worker.finished(this.#run, { isImported: this.#context !== undefined });
    this.#context = undefined;
  }

  #send(message) {
    const logs = this.#logs;
    this.#logs = [];
    this.#worker.channel.send({
      ...message,
      id: this.#run.id,
      logs,
      pulled: this.#streams.takePulled(),
      userMs: this.#spentMs,
    });
  }

  // What the realm asks of its driver.

  log(line) {
    if (this.#logCount++ < MAX_LOG_LINES) this.#logs.push(line);
  }

  fatal(message) {
    this.#fatal ??= { message };
  }

  refuse(message) {
    this.#main ??= { failure: { message } };
  }

  resolved(result) {
    this.#main ??= { result };
  }

  rejected(failure) {
    this.#main ??= { failure };
  }

  unhandled(reason) {
    this.#unhandled.push(reason);
  }

  dynamicImport() {
    this.#isImporting = true;
  }

  get allowsDynamicImport() {
    return false;
  }

  syscall(id, name, args) {
    if (!this.isFinished) this.#queue.push(id, name, args);
  }

  syscallNow(name, args) {
    if (name === "1.0/queryStream" || name === "1.0/queryCleanup") return this.#localSyscall(name, args);
    const { result, error } = this.#worker.channel.ask({ ask: "syscall", id: this.#run.id, name, args });
    return error === undefined ? `=${result}` : `!${error}`;
  }

  #localSyscall(name, args) {
    try {
      if (name === "1.0/queryStream") return `=${JSON.stringify({ queryId: this.#streams.open(args) })}`;
      return `=${this.#streams.close(JSON.parse(args).queryId)}`;
    } catch (error) {
      return `!Received invalid json: ${error.message}`;
    }
  }

  operation(id, name, args, bytes) {
    const item = this.#queue.pushOperation(id);
    item.operation = runOperation(PURE_OPERATIONS, this.#context, name, args, bytes).then((settle) => {
      item.reply = { settle };
    });
  }
}
