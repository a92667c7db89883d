// What a Node.js action threw, as clients see it. Node gives stack traces as text, so frames are read from there.
import { fileURLToPath } from "node:url";

const FRAME =
  /^\s+at (?<async>async )?(?:(?<name>.+?) \()?(?<file>file:\/\/[^)]+?|\/[^)]+?):(?<line>\d+):(?<column>\d+)\)?$/;
const SDK_INTERNALS = "convex/src/server/impl";
const CONVEX_ERROR = Symbol.for("ConvexError");

export class NodeErrors {
  #folder;

  /** `folder` holds the user's modules; frames elsewhere are not shown. */
  constructor(folder) {
    this.#folder = folder;
  }

  describe(error, code) {
    if (!(error instanceof Error)) return { message: `Uncaught ${String(error)}\n` };
    const name = `${error.name}`;
    const head = error.message ? `Uncaught ${name}: ${error.message}` : `Uncaught ${name}`;
    const frames = this.#frames(`${error.stack}`, code).map((frame) => `${frame}\n`);
    return { message: `${head}\n${frames.join("")}`, data: CONVEX_ERROR in error ? dataOf(error) : undefined };
  }

  #frames(stack, code) {
    const frames = stack
      .split("\n")
      .map((line) => this.#frame(line, code))
      .filter((frame) => frame !== undefined);
    while (frames[0]?.includes(SDK_INTERNALS)) frames.shift();
    while (frames.at(-1)?.includes(SDK_INTERNALS)) frames.pop();
    return frames;
  }

  #frame(line, code) {
    const groups = FRAME.exec(line)?.groups;
    if (groups === undefined) return undefined;
    const file = groups.file.startsWith("file:") ? fileURLToPath(groups.file) : groups.file;
    if (!file.startsWith(`${this.#folder}/`)) return undefined;
    const position = code.position(file.slice(this.#folder.length + 1), Number(groups.line), Number(groups.column));
    if (position === undefined) return undefined;
    const place = `${position.source}:${position.line}:${position.column}`;
    return `    at ${groups.async ?? ""}${groups.name ? `${groups.name} (${place})` : place}`;
  }
}

function dataOf(error) {
  return typeof error.data === "string" ? error.data : JSON.stringify(error.data ?? null);
}
