// A reporter for what vitest's JSON leaves out: the complete values that a failed assertion compared.
// Writes `[{"name": ["suite", "test"], "expected": "…", "received": "…"}]`, in the order of the tests.

import { writeFileSync } from "node:fs";

const text = (value) => (value === undefined ? null : typeof value === "string" ? value : String(value));

function* failures(tasks, above) {
  for (const task of tasks ?? []) {
    const name = [...above, task.name];
    if (task.tasks) yield* failures(task.tasks, name);
    const error = task.result?.errors?.find((each) => "expected" in each && "actual" in each);
    if (task.type === "test" && error) yield { name, expected: text(error.expected), received: text(error.actual) };
  }
}

export const failuresTo = (path) =>
  class {
    /** Until vitest 3. */
    onFinished(files) {
      this.#write(files ?? []);
    }

    /** Since vitest 3. */
    onTestRunEnd(modules) {
      this.#write(modules.map((module) => module.task));
    }

    #write(files) {
      writeFileSync(path, JSON.stringify(files.flatMap((file) => [...failures(file.tasks, [])])));
    }
  };
