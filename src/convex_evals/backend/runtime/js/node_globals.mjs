// What Node.js actions find in their global scope besides Node's own.
import { createRequire } from "node:module";
import path from "node:path";
import { inspect } from "node:util";

const LEVELS = { log: "LOG", info: "INFO", warn: "WARN", error: "ERROR", debug: "DEBUG" };
const NEEDS_REQUEST = /^1\.0\/(actions\/|storage)/;
const LEFTOVER =
  "Leftover state detected. This typically happens if there are dangling promises from a previous request. " +
  "Did you forget to await your promises?";
const INVALID = "Invalid syscall. The Convex syscalls are for internal Convex use and should not be called directly.";

export function installCommonJs(folder) {
  const filename = path.join(folder, "index.js");
  const module = { exports: {} };
  Object.assign(globalThis, {
    require: createRequire(filename),
    module,
    exports: module.exports,
    __filename: filename,
    __dirname: folder,
  });
}

/** `write(level, messages)` gets every line. */
export function installConsole(write) {
  const render = (values) => values.map((value) => inspect(value));
  for (const [method, level] of Object.entries(LEVELS)) console[method] = (...values) => write(level, render(values));
  console.trace = (...values) => write("LOG", [...render(values), new Error().stack.split("\n").slice(2).join("\n")]);
  const started = new Map();
  const elapsed = (label) => {
    if (started.has(label)) return `${label}: ${Math.round(performance.now() - started.get(label))}ms`;
    return void write("WARN", [`Timer '${label}' does not exist`]);
  };
  console.time = (label = "default") => {
    if (started.has(label)) write("WARN", [`Timer '${label}' already exists`]);
    else started.set(label, performance.now());
  };
  console.timeLog = (label = "default", ...values) => {
    const text = elapsed(label);
    if (text) write("INFO", [text, ...render(values)]);
  };
  console.timeEnd = (label = "default") => {
    const text = elapsed(label);
    if (text) write("INFO", [text]);
    started.delete(label);
  };
}

let ahead = 0;

/** From now on `Date` is so many milliseconds ahead of the machine. */
export function moveClock(milliseconds) {
  if (ahead === 0 && milliseconds !== 0) installMovedDate();
  ahead = Math.floor(milliseconds);
}

function installMovedDate() {
  const NativeDate = Date;
  const now = () => NativeDate.now() + ahead;
  function MovedDate(...args) {
    if (new.target === undefined) return new NativeDate(now()).toString();
    return Reflect.construct(NativeDate, args.length === 0 ? [now()] : args, new.target);
  }
  const { parse, UTC, prototype } = NativeDate;
  Object.defineProperty(MovedDate, "name", { value: "Date" });
  Object.defineProperty(MovedDate, "length", { value: 7 });
  Object.assign(MovedDate, { now, parse, UTC, prototype });
  prototype.constructor = MovedDate;
  globalThis.Date = MovedDate;
}

/** `current()` is the action that runs now. */
export function installConvex(current) {
  const running = () => {
    const action = current();
    if (action === undefined) throw new Error("Cannot invoke syscall during module imports");
    return action;
  };
  const checkRequest = (name, { requestId }) => {
    if (requestId === undefined) {
      if (NEEDS_REQUEST.test(name)) throw new Error(INVALID);
    } else if (requestId !== running().requestId) throw new Error(LEFTOVER);
  };
  globalThis.Convex = {
    syscall: (name, args) => running().syscallNow(name, args),
    async asyncSyscall(name, args) {
      running();
      checkRequest(name, JSON.parse(args));
      return await running().syscall(name, args);
    },
    jsSyscall(name, args) {
      checkRequest(name, args);
      if (name === "storage/storeBlob") return running().store(args);
      if (name === "storage/getBlob") return running().load(args);
      throw new Error(`Unknown JS syscall: ${name}`);
    },
  };
}
