// Imports pushed modules, each in a fresh context, and reports what they export. See runtime/evaluation.py.
import { Variables } from "./code.mjs";
import { Context } from "./context.mjs";
import { ImportFailure, TimeUp } from "./failures.mjs";
import { atMost } from "./limits.mjs";

const SHOWN_LOGS = 100;
const LEAST_SHARE = 0.7; // of its time, for which a module must have had a processor
const PATIENCE = 8;
const DOCS = "https://docs.convex.dev/components";

const NO_VARIABLES = {
  schema: () => "Environment variables unsupported when evaluating schema",
  definition: () => `Environment variables are only supported in the app's convex.config.ts. Learn more at ${DOCS}`,
};

/** `inspect*` of analyze.mjs, by subject. */
export function inspector(analyze, subject, module) {
  switch (subject) {
    case "functions":
      return (namespace, describe) => analyze.inspectFunctions(namespace, module, describe);
    case "schema":
      return analyze.inspectSchema;
    case "auth":
      return analyze.inspectAuthConfig;
    default:
      return analyze.inspectDefinition;
  }
}

export class ModuleEvaluation {
  #worker;
  #request;
  #code;
  #results = [];
  #paths;
  #missingVariable = undefined;
  #unhandled = [];

  constructor(worker, request) {
    this.#worker = worker;
    this.#request = request;
    this.#paths = [...request.paths];
  }

  async start() {
    this.analyze = await import("./analyze.mjs"); // only pushes need it
    this.#code = this.#worker.library.code(this.#request.code);
    this.#next();
  }

  unhandled(reason) {
    this.#unhandled.push(reason);
  }

  #next() {
    const path = this.#paths.shift();
    if (path === undefined)
      return this.#worker.channel.send({ op: "answer", id: this.#request.id, result: this.#results });
    return this.#evaluate(path, this.#request.userMs);
  }

  /** The engine measures time by the clock. Who had no processor for most of it begins again, with twice the time. */
  #evaluate(path, milliseconds) {
    const context = new Context({ code: this.#code, env: this.#variables(), pure: this.#isPure });
    return this.#worker.turns.push(this, () => {
      const outcome = this.#import(context, path, milliseconds);
      if (outcome.wasWaiting && milliseconds < this.#request.userMs * PATIENCE) {
        [this.#unhandled, this.#missingVariable] = [[], undefined];
        return this.#evaluate(path, milliseconds * 2);
      }
      return this.#worker.turns.push(this, () => this.#report(context, outcome));
    });
  }

  get #isPure() {
    return this.#request.subject === "auth" || this.#request.subject === "definition";
  }

  #variables() {
    const { env, subject } = this.#request;
    if (env === null) return new Variables({}, NO_VARIABLES[subject]);
    if (subject !== "auth") return new Variables(env);
    return new Variables(env, (name) => {
      this.#missingVariable ??= name;
      return `Environment variable ${name} is used in auth config file but its value was not set`;
    });
  }

  #import(context, path, milliseconds) {
    const [started, before] = [performance.now(), process.threadCpuUsage()];
    try {
      const namespace = context.importModule(path, atMost(milliseconds));
      return { facts: this.#inspect(context, path, namespace, milliseconds - (performance.now() - started)) };
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      const wasWaiting = error instanceof TimeUp && (user + system) / 1000 < this.#request.userMs * LEAST_SHARE;
      return { failure: this.#failureText(context, error), wasWaiting };
    }
  }

  /** Inspectors call methods of exports, so they run as user code does: for so long, and no longer. */
  #inspect(context, path, namespace, milliseconds) {
    const module = {
      path,
      source: this.#code.module(path).source,
      sourceMap: this.#code.mapText(path),
      environment: "isolate",
    };
    const inspect = inspector(this.analyze, this.#request.subject, module);
    let facts;
    let thrown;
    context.enter(() => {
      try {
        facts = inspect(namespace, (error) =>
          this.#thrown(context, JSON.parse(context.kernel.describe(error)).message),
        );
      } catch (error) {
        thrown = error;
      }
    }, atMost(milliseconds));
    if (thrown !== undefined) throw thrown;
    return facts;
  }

  #failureText(context, error) {
    if (error instanceof ImportFailure) return error.message;
    if (!(error instanceof TimeUp)) return context.describe(error).message;
    return `Function execution timed out (maximum duration: ${Math.ceil(this.#request.userMs / 1000)}s)`;
  }

  #thrown(context, text) {
    const logs = context.driver.logs
      .slice(-SHOWN_LOGS)
      .map(({ level, messages }) => `[${level}] ${messages.join(" ")}`);
    return { text, logs, missingVariable: this.#missingVariable };
  }

  #report(context, { facts, failure }) {
    const [unhandled] = this.#unhandled;
    const text = failure ?? (unhandled === undefined ? undefined : context.describe(unhandled).message);
    if (text === undefined) {
      this.#results.push(facts);
    } else {
      this.#results.push({ thrown: this.#thrown(context, text) });
      this.#paths = [];
    }
    this.#next();
  }
}
