// Runs tests that a model wrote, on many variants of the project that they test: one folder each.
// Every file has a thread of its own, as with a default configuration: what one leaves behind does not reach another,
// and `vi.stubGlobal` works, which it does not in virtual machines.

import { writeFileSync } from "node:fs";

const STARTED = '"started"'; // is no report, but shows that vitest came to run tests
const SETUP = new URL("./written.setup.mjs", import.meta.url).pathname;

export const writtenTests = (report, cacheDir) => ({
  cacheDir,
  test: {
    environment: "edge-runtime",
    fsModuleCache: false,
    include: ["*/**/*.{test,spec}.{ts,tsx,js,mjs}"],
    pool: "threads",
    maxWorkers: 2,
    silent: true,
    testTimeout: 5000,
    hookTimeout: 5000,
    setupFiles: [SETUP],
    server: { deps: { inline: ["convex-test"] } },
    // What a test leaves running may fail after its end, and nobody could say in which variant.
    dangerouslyIgnoreUnhandledErrors: true,
    reporters: [
      {
        onInit: () => writeFileSync(report, STARTED),
        onTestRunEnd: (modules) => writeFileSync(report, JSON.stringify(modules.map(moduleResult))),
      },
    ],
  },
});

const moduleResult = (module) => ({
  file: module.relativeModuleId,
  problem: module.errors().map(messageOf).join("\n"),
  tests: [...module.children.allTests()].map(testResult),
});

const testResult = (test) => {
  const { state, errors } = test.result();
  return { name: test.fullName, state, message: (errors ?? []).map(messageOf).join("\n") };
};

const messageOf = (error) => String(error.message ?? error).slice(0, 2000);
