// One test that fails says everything about a variant: the others in its file are skipped.

import { beforeEach } from "vitest";

let hasFailed = false;

beforeEach((context) => {
  if (hasFailed) context.skip();
  context.onTestFailed(() => {
    hasFailed = true;
  });
});
