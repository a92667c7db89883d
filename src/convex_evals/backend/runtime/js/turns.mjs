// Who may run next in a worker that interleaves many executions. Each turn has a tick of the event loop to itself, so
// an unhandled rejection that Node reports at the end of the tick belongs to the owner of that turn.

export class Turns {
  #queue = [];
  #idle = [];
  #isScheduled = false;
  #owner = undefined;

  constructor() {
    process.on("unhandledRejection", (reason) => this.#owner?.unhandled?.(reason));
  }

  push(owner, run) {
    this.#queue.push({ owner, run });
    this.#schedule();
  }

  /** For work nobody waits for: runs when there is no other. */
  whenIdle(owner, run) {
    this.#idle.push({ owner, run });
    this.#schedule();
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#next());
  }

  #next() {
    this.#isScheduled = false;
    const turn = this.#queue.shift() ?? this.#idle.shift();
    if (turn === undefined) return;
    if (this.#queue.length + this.#idle.length > 0) this.#schedule();
    this.#owner = turn.owner;
    turn.run();
  }
}
