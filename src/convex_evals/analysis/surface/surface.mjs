// Lists what an installed `convex` package offers, as its own types say: exports of its modules, and the members of
// what they give. Usage: node surface.mjs <node_modules with typescript> <folder of the convex package>
//
// Output: {"modules": {"convex/values": ["v", …]},
//          "roots": {"v": "T0", "query ctx": "T4", "defineTable()": "T9", …},
//          "types": {"T0": {"name": "…", "members": {"array": {"is": null, "returns": "T1", "callback": null}, …}}, …},
//          "common": ["toString", …]}
//
// A member has the type `is`, or gives `returns` when it is called with a function that is given `callback`; null is a
// type that is not convex's own.
import { createRequire } from "node:module";
import path from "node:path";

const [toolchain, convex] = process.argv.slice(2);
const ts = createRequire(path.join(toolchain, "typescript/package.json"))("typescript");
const manifest = createRequire(path.join(convex, "package.json"))("./package.json");

const HIDDEN = /^(\.\/package\.json|\.\/.*internal|\.\/bundler|\.\/test)$/;
const entries = Object.keys(manifest.exports).filter((key) => key !== "." && !HIDDEN.test(key) && !key.includes("*"));
const names = entries.map((key) => `convex/${key.slice(2)}`);

// The values and contexts that a project's code starts from.
const SOURCE = `
import { v } from "convex/values";
import * as server from "convex/server";
declare const queryCtx: server.GenericQueryCtx<server.AnyDataModel>;
declare const mutationCtx: server.GenericMutationCtx<server.AnyDataModel>;
declare const actionCtx: server.GenericActionCtx<server.AnyDataModel>;
export declare const anything: Object;
export const roots = {
  "v": v,
  "query ctx": queryCtx,
  "mutation ctx": mutationCtx,
  "action ctx": actionCtx,
  "defineSchema()": server.defineSchema({}),
  "defineTable()": server.defineTable({}),
  "cronJobs()": server.cronJobs(),
  "httpRouter()": server.httpRouter(),
};
${names.map((name, index) => `export * as module${index} from ${JSON.stringify(name)};`).join("\n")}
`;

const file = path.join(path.dirname(path.dirname(convex)), "convex-evals-surface.ts");
const options = {
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ESNext,
  jsx: ts.JsxEmit.ReactJSX,
  skipLibCheck: true,
  strict: true,
  types: [],
  noEmit: true,
  preserveSymlinks: true,
};
const host = ts.createCompilerHost(options);
const { fileExists, readFile, getSourceFile } = host;
host.fileExists = (name) => name === file || fileExists(name);
host.readFile = (name) => (name === file ? SOURCE : readFile(name));
host.getSourceFile = (name, ...rest) =>
  name === file ? ts.createSourceFile(name, SOURCE, ts.ScriptTarget.ESNext, true) : getSourceFile(name, ...rest);
const program = ts.createProgram([file], options, host);
const checker = program.getTypeChecker();
const source = program.getSourceFile(file);

const NOTHING = { is: null, returns: null, callback: null };
const known = new Map();
const types = {};

const isConvex = (type) => {
  const symbol = type.aliasSymbol ?? type.symbol;
  return (symbol?.declarations ?? []).some((each) => each.getSourceFile().fileName.startsWith(`${convex}/`));
};

// Only what convex itself declares is described: promises, arrays and documents are not its API.
function describe(type, depth) {
  if (depth > 6 || type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) return null;
  if (!(type.flags & ts.TypeFlags.Object) && !type.isIntersection()) return null;
  if (!isConvex(type) || checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0) return null;
  const properties = checker.getPropertiesOfType(type);
  if (properties.length === 0 || checker.getStringIndexType?.(type) || type.getStringIndexType?.()) return null;
  const name = type.aliasSymbol?.name ?? type.symbol?.name ?? "";
  const shape = `${name}:${properties.map((each) => each.name).sort()}`;
  if (known.has(shape)) return known.get(shape);
  const id = `T${known.size}`;
  known.set(shape, id);
  types[id] = { name, members: {} };
  for (const property of properties) {
    const own = checker.getTypeOfSymbolAtLocation(property, source);
    types[id].members[property.name] = member(own, depth + 1);
  }
  return id;
}

function member(type, depth) {
  const signatures = checker.getSignaturesOfType(type, ts.SignatureKind.Call);
  if (signatures.length === 0) return { ...NOTHING, is: describe(type, depth) };
  let returns = null;
  let callback = null;
  for (const signature of signatures) {
    returns ??= describe(checker.getReturnTypeOfSignature(signature), depth);
    for (const parameter of signature.parameters) {
      const given = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(parameter, source));
      const called = checker.getSignaturesOfType(given, ts.SignatureKind.Call)[0];
      const first = called?.parameters[0];
      if (first) callback ??= describe(checker.getTypeOfSymbolAtLocation(first, source), depth);
    }
  }
  return { is: null, returns, callback };
}

const exported = new Map(checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((each) => [each.name, each]));
const roots = {};
for (const root of checker.getPropertiesOfType(checker.getTypeOfSymbolAtLocation(exported.get("roots"), source)))
  roots[root.name] = describe(checker.getTypeOfSymbolAtLocation(root, source), 0);

const modules = {};
names.forEach((name, index) => {
  const target = checker.getAliasedSymbol(exported.get(`module${index}`));
  modules[name] = checker.getExportsOfModule(target).map((each) => each.name).sort();
});
const anything = checker.getTypeOfSymbolAtLocation(exported.get("anything"), source);
const common = checker.getPropertiesOfType(anything).map((each) => each.name);
const generated = generatedServer();
if (generated) modules["./_generated/server"] = generated;

// What the CLI of this version writes into a project's _generated/server.d.ts.
function generatedServer() {
  let text;
  try {
    const templates = createRequire(path.join(convex, "dist/cjs/cli/codegen_templates/server.js"))("./server.js");
    text = templates.serverCodegen({ useTypeScript: false, envVars: [] }).DTS;
  } catch {
    return null; // a version that is built differently: these imports are not checked then
  }
  if (typeof text !== "string") return null;
  const parsed = ts.createSourceFile("server.d.ts", text, ts.ScriptTarget.ESNext, true);
  const found = [];
  for (const statement of parsed.statements) {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some((each) => each.kind === ts.SyntaxKind.ExportKeyword)) continue;
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    found.push(...declared.filter((each) => each.name).map((each) => each.name.getText()));
  }
  return found.sort();
}

console.log(JSON.stringify({ modules, roots, types, common }));
