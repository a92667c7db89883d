// Outgoing requests of one action for realm/fetch.js. Answers are read chunk by chunk, when user code wants them.

class FetchError extends Error {
  name = "Error";
}

function explain(error) {
  if (error?.name === "AbortError") return error;
  const cause = error?.cause ?? error;
  if (cause?.message === "redirect count exceeded") return new FetchError("fetch too many redirects");
  if (cause?.message === "unexpected redirect") return new FetchError("fetch attempted redirect");
  const reasons = cause?.errors?.map((reason) => reason.message).join("; "); // one per address that was tried
  return new FetchError(cause?.message || reasons || String(error));
}

export class Fetches {
  #requests = new Map(); // id → {abort, reader}
  #lastId = 0;

  newId() {
    this.#requests.set(++this.#lastId, { abort: new AbortController(), reader: undefined });
    return this.#lastId;
  }

  async start({ id, url, method, headers, redirect }, body) {
    const request = this.#requests.get(id);
    try {
      const response = await fetch(url, { method, headers, redirect, body, signal: request.abort.signal });
      request.reader = response.body?.getReader();
      return {
        value: {
          status: response.status,
          statusText: response.statusText,
          headers: [...response.headers],
          url: response.url,
          redirected: response.redirected,
          hasBody: request.reader !== undefined,
        },
      };
    } catch (error) {
      this.#requests.delete(id);
      throw explain(error);
    }
  }

  async read({ id }) {
    try {
      const { done, value } = await this.#requests.get(id).reader.read();
      if (!done) return { value: { done: false }, bytes: value };
      this.#requests.delete(id);
      return { value: { done: true } };
    } catch (error) {
      throw explain(error);
    }
  }

  abandon(id) {
    this.#requests.get(id)?.abort.abort();
    this.#requests.delete(id);
  }

  abandonAll() {
    for (const id of [...this.#requests.keys()]) this.abandon(id);
  }
}
