// oxlint without its command, whose modules take longer to load than most answers take to lint. It has no plugins and no
// configuration in JavaScript, so nothing calls back but the two that open and close a workspace.
//
//   node oxlint.cjs BINDING OPTION...     lints the current folder once
//   node oxlint.cjs BINDING               lints one folder after another: a job is a line of JSON on standard input, its
//                                         report is followed by a zero byte

const { readSync, writeSync } = require("node:fs");

const [binding, ...options] = process.argv.slice(2);
const { lint } = require(binding);
const unexpected = () => Promise.reject(new Error("oxlint asked for JavaScript that there is none of"));
const lintHere = (options) =>
  lint(options, unexpected, unexpected, unexpected, () => Promise.resolve(), () => undefined, unexpected);

/** Waits for it. Streams would make standard output non-blocking, too, and oxlint writes there by itself. */
function readLine() {
  const bytes = [];
  const byte = Buffer.alloc(1);
  while (readSync(0, byte) === 1) {
    if (byte[0] === 10) return Buffer.from(bytes).toString();
    bytes.push(byte[0]);
  }
  return undefined;
}

async function work() {
  for (let line = readLine(); line !== undefined; line = readLine()) {
    const { folder, options } = JSON.parse(line);
    process.chdir(folder);
    await lintHere(options);
    writeSync(1, "\0");
  }
}

(options.length > 0 ? lintHere(options) : work().then(() => true)).then(
  (passed) => process.reallyExit(passed ? 0 : 1), // everything is printed, and nothing is left to tidy up
  (error) => {
    console.error(error);
    process.reallyExit(2);
  },
);
