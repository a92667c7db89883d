// The bodies of one HTTP action: chunks of the request as they arrive, and the response up to its limit.

const MAX_RESPONSE_BYTES = 20 * 1024 * 1024;

export class RequestBody {
  #chunks = [];
  #isEnded = false;
  #waiting = undefined;

  push(chunk) {
    this.#chunks.push(chunk);
    this.#wake();
  }

  end() {
    this.#isEnded = true;
    this.#wake();
  }

  async read() {
    while (this.#chunks.length === 0 && !this.#isEnded) {
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
    if (this.#chunks.length === 0) return { value: { done: true } };
    return { value: { done: false }, bytes: this.#chunks.shift() };
  }

  #wake() {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

export class ResponseBody {
  #sent = 0;
  #isTooLarge = false;

  /** `send` passes a chunk on; `onTooLarge` is called once, and what follows is dropped. */
  constructor(send, onTooLarge) {
    this.send = send;
    this.onTooLarge = onTooLarge;
  }

  write(bytes) {
    if (this.#isTooLarge) return;
    this.#sent += bytes.length;
    if (this.#sent <= MAX_RESPONSE_BYTES) {
      this.send(bytes);
      return;
    }
    this.#isTooLarge = true;
    this.onTooLarge();
  }
}
