// Evaluates pushed modules, each in a fresh context, and reports what they export. Runs no function.
import { inspectAuthConfig, inspectDefinition, inspectFunctions, inspectSchema } from "./analyze-exports.mjs";
import { Positions } from "./analyze-positions.mjs";
import { Context } from "./context.mjs";
import { ImportFailure, TimeUp } from "./failures.mjs";

const KEPT_LOG_LINES = 100;

const INSPECTORS = {
  functions: inspectFunctions,
  schema: (namespace, module, describe) => inspectSchema(namespace, describe),
  auth: (namespace, module, describe) => inspectAuthConfig(namespace, describe),
  definition: (namespace, module, describe) => inspectDefinition(namespace, describe),
};

/** One result per path, up to and including the first that could not be imported. See `runtime/evaluation.py`. */
export function analyze({ subject, code, env, envRefusal, paths, userMs }, { library }) {
  const results = [];
  for (const path of paths) {
    const environment = new Environment(env === null ? new Map() : library.environment(env), envRefusal, subject === "auth");
    const result = evaluate(subject, library.code(code), path, environment, userMs);
    results.push(result);
    if (result.thrown) break;
  }
  return results;
}

function evaluate(subject, code, path, env, userMs) {
  const context = new Context({ code, env });
  env.context = context;
  try {
    const namespace = context.importModule(path, userMs);
    const module = { path, environment: "isolate", positions: new Positions(code, path) };
    let facts;
    context.enter(() => {
      facts = INSPECTORS[subject](namespace, module, (error) => thrown(context, error, env));
    }, userMs);
    return facts;
  } catch (error) {
    return { thrown: thrown(context, error, env) };
  }
}

function thrown(context, error, env) {
  return {
    text: textOf(context, error),
    logs: context.driver.logs.slice(-KEPT_LOG_LINES).map(({ level, messages }) => `[${level}] ${messages.join(" ")}`),
    missingVariable: env.missing,
  };
}

function textOf(context, error) {
  if (error instanceof TimeUp) return "Function execution timed out";
  return error instanceof ImportFailure ? error.message : context.describe(error).message;
}

/** The variables a module may read while it is evaluated. */
class Environment {
  context = undefined; // set once it exists
  missing = null; // the first variable that had to be there and was not
  #variables;
  #refusal;
  #isStrict;

  /** With `refusal` every look-up throws that message; if `isStrict`, the look-up of a variable that is not set throws. */
  constructor(variables, refusal, isStrict) {
    this.#variables = variables;
    this.#refusal = refusal;
    this.#isStrict = isStrict;
  }

  get(name) {
    if (this.#refusal !== null) throw this.context.kernel.makeError(this.#refusal);
    const value = this.#variables.get(name);
    if (value === undefined && this.#isStrict) {
      this.missing ??= name;
      throw this.context.kernel.makeError(`Environment variable ${name} is not set`);
    }
    return value;
  }
}
