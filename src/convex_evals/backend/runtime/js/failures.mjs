// How running user code can end badly.

/** It had no time left. */
export class TimeUp extends Error {}

/** Python thought that it had no time left. */
export class Interrupted extends Error {}

/** A module could not be evaluated. `data` is set when it threw a ConvexError, `thrown` when it threw at all. */
export class ImportFailure extends Error {
  constructor({ message, data }, thrown = undefined) {
    super(message);
    this.data = data;
    this.thrown = thrown;
  }
}
