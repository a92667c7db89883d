// Bundles convex/ the way the CLI does: isolate functions and "use node" functions apart.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const modules = path.resolve(process.argv[2]);
const esbuild = createRequire(path.join(modules, "x.js"))("esbuild");
const here = import.meta.dirname;
const work = fs.mkdtempSync(path.join(modules, "..", "app-"));
fs.cpSync(path.join(here, "convex"), path.join(work, "convex"), { recursive: true });
process.chdir(work);

const sources = fs.readdirSync("convex").filter((name) => name.endsWith(".ts"));
const isNode = (name) => fs.readFileSync(path.join("convex", name), "utf8").startsWith('"use node"');
const entry = (name) => path.join("convex", name);

const asyncHooks = {
  name: "async-hooks",
  setup(build) {
    build.onResolve({ filter: /^(node:)?async_hooks$/ }, ({ path: name }) => ({ path: name, namespace: "async-hooks" }));
    build.onLoad({ filter: /.*/, namespace: "async-hooks" }, () => ({
      contents: "export const AsyncLocalStorage = globalThis.AsyncLocalStorage; export const AsyncResource = globalThis.AsyncResource;",
    }));
  },
};

async function bundle(entryPoints, platform, chunks) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: work,
    entryPoints,
    bundle: true,
    platform,
    format: "esm",
    target: "esnext",
    outdir: "out",
    outbase: "convex",
    conditions: ["convex", "module"],
    plugins: platform === "browser" ? [asyncHooks] : [],
    write: false,
    sourcemap: true,
    sourcesContent: false,
    splitting: true,
    chunkNames: path.join(chunks, "[hash]"),
    treeShaking: true,
    minifySyntax: true,
    minifyIdentifiers: true,
    keepNames: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles;
}

const out = path.join(here, "out");
fs.rmSync(out, { recursive: true, force: true });
const files = [
  ...(await bundle(sources.filter((name) => !isNode(name)).map(entry), "browser", "_deps")).map((file) => ["isolate", file]),
  ...(await bundle(sources.filter(isNode).map(entry), "node", "_deps/node")).map((file) => ["node", file]),
];
for (const [environment, file] of files) {
  const target = path.join(out, environment, path.relative(path.join(work, "out"), file.path));
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, file.text);
}
fs.rmSync(work, { recursive: true });
