// Resolves package.json in the working folder to package-lock.json with npm's own code, and unpacks nothing.
// `npm install --package-lock-only` would unpack packages that bundle others, and does not say who asked for a package
// that it refuses. Arguments: npm's folder, then those of `npm install`. Errors are printed as npm prints them with --json.
"use strict";

const path = require("node:path");

const npmFolder = process.argv[2];
process.argv.splice(2, 1);
const load = (module) => require(path.join(npmFolder, module));

const MOST_ASKERS = 20;

function chain(arborist, location) {
  const names = [];
  let node = arborist.idealTree?.inventory.get(location);
  for (let count = 0; node && !node.isProjectRoot && count < MOST_ASKERS; count++) {
    names.unshift(`${node.name}@${node.version}`);
    node = [...node.edgesIn][0]?.from;
  }
  return ["package.json", ...names].join(" > ");
}

function describe(error, npm) {
  const { code } = error; // npm would guess a missing one from the message
  const { summary, detail } = load("lib/utils/error-message.js").errorMessage(error, npm);
  const text = (lines) => lines.map((line) => line.slice(1).join(" ")).join("\n").trim();
  return { code, summary: text(summary), detail: text(detail) };
}

async function main() {
  const Npm = load("lib/npm.js");
  const Arborist = load("node_modules/@npmcli/arborist");
  const npm = new Npm();
  await npm.load();
  const arborist = new Arborist({ ...npm.flatOptions, path: process.cwd() });
  try {
    const tree = await arborist.buildIdealTree({ complete: false });
    await tree.meta.save();
  } catch (error) {
    const report = describe(error, npm);
    if (error.requiredBy !== undefined && error.package !== undefined) {
      report.detail = `${chain(arborist, error.requiredBy)} > ${error.package}`;
    }
    process.stdout.write(JSON.stringify({ error: report }));
    process.exitCode = 1;
  }
}

main();
