// What TypeScript has parsed of compiler and packages, kept from one answer to the next: most of the time of a lint
// goes there, and those files do not change. Files of answers are never kept. Sharing parsed files between programs
// with equal options is what TypeScript's own language service does.
import { createRequire } from "node:module";

const MOST_OPTIONS = 3; // an answer can bring its own tsconfig.json
const PROGRAMS = /[\\/]typescript-estree[\\/]dist[\\/]create-program[\\/]useProvidedPrograms\.js$/;
const COMPILER = /[\\/]typescript[\\/]lib[\\/]typescript\.js$/;

/** Parsed files by options, then by name. */
const kept = new Map();
const patched = new WeakSet();

function filesFor(options) {
  const files = kept.get(options) ?? new Map();
  kept.delete(options);
  kept.set(options, files); // the last one is the one used last
  for (const oldest of [...kept.keys()].slice(0, -MOST_OPTIONS)) kept.delete(oldest);
  return files;
}

/** Of programs that are made for a single run. */
function keepInPrograms({ exports, filename }, isKept) {
  const near = createRequire(filename);
  const ts = near("typescript");
  const { getParsedConfigFile } = near("@typescript-eslint/tsconfig-utils");
  exports.createProgramFromConfigFile = (configFile, projectDirectory, jsDocParsingMode) => {
    const { fileNames, options } = getParsedConfigFile(ts, configFile, projectDirectory);
    const host = Object.assign(ts.createCompilerHost(options, true), { jsDocParsingMode });
    const { configFilePath: _, pathsBasePath: __, ...relevant } = options;
    const files = filesFor(JSON.stringify([relevant, jsDocParsingMode]));
    const parse = host.getSourceFile;
    host.getSourceFile = (name, format, ...rest) => {
      const key = `${name} ${JSON.stringify(format)}`;
      const file = files.get(key) ?? parse(name, format, ...rest);
      if (file && isKept(name)) files.set(key, file);
      return file;
    };
    return ts.createProgram(fileNames, options, host);
  };
}

/** Of the project service, which compares the text before it uses what is kept. */
function keepInService({ exports }, isKept) {
  const service = exports.server?.ProjectService?.prototype;
  if (!service?.getDocument || !service.setDocument) return;
  const { getDocument, setDocument } = service;
  service.getDocument = function (options, path) {
    return filesFor(options).get(path) ?? getDocument.call(this, options, path);
  };
  service.setDocument = function (options, path, file) {
    if (isKept(path)) filesFor(options).set(path, file);
    return setDocument.call(this, options, path, file);
  };
}

/** For compilers loaded by now. Others, or versions that work differently, parse everything again. */
export function keepPackages(modules, isKept) {
  for (const module of modules.filter((module) => module?.loaded && !patched.has(module))) {
    patched.add(module);
    if (PROGRAMS.test(module.filename) && module.exports.createProgramFromConfigFile) keepInPrograms(module, isKept);
    if (COMPILER.test(module.filename)) keepInService(module, isKept);
  }
}
