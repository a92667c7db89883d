// Lints one folder after another: a job is a line of JSON on standard input, its result a line on standard output.
//
// Jobs come from different answers, so nothing may be left of one when the next begins: each has a folder with a name
// that nobody could know before, the configuration is evaluated anew, and what typescript-eslint keeps is dropped. Only
// what was parsed of packages stays (packages.mjs). When that cannot be done, or something else changed that should
// not, `reusable` is false.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { getHeapStatistics } from "node:v8";
import { keepPackages } from "./packages.mjs";

const script = process.argv[2];
process.argv[1] = script; // typescript-eslint recognizes the command by its path, and then expects a single run
const require = createRequire(script);
const { ESLint } = require("eslint");

const JOBS = `${process.cwd()}/`; // all answers are below
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr); // a plugin may print; not into our conversation

const WATCHED = [Object, Array, Function, String, Number, Boolean, Symbol, RegExp, Error, Promise, Map, Set, WeakMap]
  .flatMap((constructor) => [constructor, constructor.prototype])
  .concat([JSON, Math, Reflect]);

/** What all code shares, flat enough to compare: objects, their keys and what is behind them. */
function shared() {
  return WATCHED.flatMap((object) =>
    Reflect.ownKeys(object).flatMap((key) => {
      const { value, get, set, writable } = Reflect.getOwnPropertyDescriptor(object, key);
      return [object, key, value, get, set, writable];
    }),
  );
}

// Tools set these for a moment and may leave them behind; they only shape stack traces.
const VOLATILE = new Set(["stackTraceLimit", "prepareStackTrace"]);

function same(before, after) {
  if (before.length !== after.length) return false;
  for (let index = 0; index < before.length; index += 6) {
    if (VOLATILE.has(before[index + 1])) continue;
    if (typeof before[index + 1] === "string" && before[index] === RegExp) continue; // RegExp.$1 and the like
    for (let part = 0; part < 6; part++) if (!Object.is(before[index + part], after[index + part])) return false;
  }
  return true;
}

/** Whether all that was known about types is forgotten. */
function forget() {
  const loaded = Object.values(require.cache).filter((module) => module?.loaded);
  const estrees = loaded.filter((module) => /[\\/]typescript-estree[\\/]dist[\\/]index\.js$/.test(module.filename));
  const clearing = estrees.filter((module) => typeof module.exports.clearCaches === "function");
  clearing.forEach((module) => module.exports.clearCaches());
  const compilers = loaded.filter((module) => /[\\/]typescript[\\/]lib[\\/]typescript\.js$/.test(module.filename));
  return compilers.length === 0 || (estrees.length > 0 && clearing.length === estrees.length);
}

async function lint({ id, folder, config, pattern }) {
  process.chdir(folder);
  const { default: loaded } = await import(`${pathToFileURL(config)}?job=${id}`);
  keepPackages(Object.values(require.cache), (path) => !path.startsWith(JOBS));
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true, // no look-up; paths in the configuration are relative to the folder, as with --config
    overrideConfig: [loaded, { rules: {} }].flat(),
    allowInlineConfig: false,
    errorOnUnmatchedPattern: false,
    ignorePatterns: ["**/_generated/**"],
    warnIgnored: false,
  });
  const results = await eslint.lintFiles([pattern]);
  return results.map(({ filePath, messages }) => ({ filePath, messages }));
}

async function work(job) {
  const before = shared();
  const started = process.cpuUsage();
  const outcome = {};
  try {
    outcome.reports = await lint(job);
  } catch (error) {
    outcome.error = String(error?.stack ?? error);
  }
  process.chdir("/");
  outcome.reusable = forget() && same(before, shared());
  const used = process.cpuUsage(started);
  const { total_heap_size: heap, malloced_memory: buffers } = getHeapStatistics(); // there is no /proc to ask
  return { id: job.id, ...outcome, cpu: (used.user + used.system) / 1000, memory: heap + buffers };
}

for await (const line of createInterface({ input: process.stdin })) {
  answer(`${JSON.stringify(await work(JSON.parse(line)))}\n`);
}
