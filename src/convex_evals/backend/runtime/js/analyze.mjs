// Reports what an evaluated module exports. Only facts: which of them are right is decided in Python (`push/`).
//
// `describe(error)` turns something thrown by the app's code into `{text}`; the shapes are those of `push/facts.py`.
// The values inspected belong to the app's realm: its methods may run, so nothing of this realm is passed to them.
import { Positions } from "./analyze-positions.mjs";

const MARKERS = ["isQuery", "isMutation", "isAction", "isPublic", "isInternal"];
const NODE_ENTRIES = ["invokeQuery", "invokeMutation", "invokeAction"];

/** Facts about a module of functions; `module` is `{path, source, sourceMap, environment}`. */
export function inspectFunctions(namespace, module, describe) {
  const { path, source, sourceMap, environment } = module;
  const positions = new Positions(source, sourceMap);
  const isNode = environment === "node";
  return {
    exports: Object.keys(namespace)
      .map((name) => inspectExport(name, namespace[name], isNode, positions, describe))
      .filter((facts) => facts !== null),
    router: path === "http.js" ? inspectRouter(namespace, positions, describe) : null,
    crons: path === "crons.js" ? inspectCrons(namespace, describe) : null,
  };
}

/** Facts about `schema.js`. */
export function inspectSchema(namespace, describe) {
  const schema = namespace.default;
  if (schema === undefined || schema === null) return { exported: false, export: null };
  return { exported: true, export: callForText(schema, "export", describe) };
}

/** The default export of `auth.config.js` as JSON text. */
export function inspectAuthConfig(namespace, describe) {
  if (namespace.default === undefined) return { exported: false, export: null };
  return { exported: true, export: attempt(() => textOrProblem(JSON.stringify(namespace.default)), describe) };
}

/** What `convex.config.js` defines, as JSON text; or what is wrong with its exports. */
export function inspectDefinition(namespace, describe) {
  const definition = namespace.default;
  const problem = definitionProblem(namespace, definition);
  if (problem !== null) return { problem, export: null };
  const exported = attempt(() => {
    const metadata = definition.export();
    return isObject(metadata) ? { text: JSON.stringify(metadata) } : { problem: "notString" };
  }, describe);
  if (exported.problem !== undefined) {
    return { problem: "the `export` property did not return an object", export: null };
  }
  return { problem: null, export: exported };
}

function inspectExport(name, value, isNode, positions, describe) {
  if (!isObject(value)) return null;
  const has = isNode ? (key) => Object.hasOwn(value, key) : (key) => key in value;
  const markers = MARKERS.filter(has);
  if (markers.length === 0 || (isNode && !NODE_ENTRIES.some(has))) return null;
  const handler = value._handler;
  return {
    name,
    markers,
    args: callForText(value, "exportArgs", describe),
    returns: callForText(value, "exportReturns", describe),
    handler: handler === undefined ? "absent" : typeof handler === "function" ? "function" : "invalid",
    callable: typeof value === "function",
    position: positions.of(handler ?? value),
  };
}

function inspectRouter(namespace, positions, describe) {
  if (!("default" in namespace)) return { exported: false };
  const router = namespace.default;
  if (!isObject(router) || router.isRouter !== true) return { exported: true, isRouter: false };
  if (router.getRoutes === undefined) return { exported: true, isRouter: true, hasRoutes: false };
  const found = attempt(() => ({ routes: router.getRoutes() }), describe);
  return {
    exported: true,
    isRouter: true,
    hasRoutes: true,
    routes: Array.isArray(found.routes) ? inspectRoutes(found.routes, positions) : null,
    thrown: found.thrown ?? null,
  };
}

function inspectRoutes(routes, positions) {
  const facts = [];
  for (let index = 0; index < routes.length; index++) facts.push(inspectRoute(routes[index], positions));
  return facts;
}

function inspectRoute(route, positions) {
  const isEntry = Array.isArray(route);
  const [path, method, action] = isEntry ? [route[0], route[1], route[2]] : [];
  const isAction = isObject(action) && "isHttp" in action;
  const handler = isAction ? (action._handler ?? action) : undefined;
  return {
    isEntry,
    path: stringOrNull(path),
    method: stringOrNull(method),
    isAction,
    hasHandler: typeof handler === "function",
    position: positions.of(handler),
  };
}

function inspectCrons(namespace, describe) {
  if (!("default" in namespace)) return { exported: false };
  const crons = namespace.default;
  if (!isObject(crons) || crons.isCrons !== true) return { exported: true, isCrons: false };
  return { exported: true, isCrons: true, export: callForText(crons, "export", describe) };
}

function definitionProblem(namespace, definition) {
  if (!("default" in namespace)) return "missing default export";
  if (!isObject(definition)) return "the default export is not an object";
  if (Object.keys(namespace).length > 1) return "`convex.config.ts` has more than one export";
  if (!("export" in definition)) return "missing `export` property on the default export of `convex.config.ts`";
  if (typeof definition.export !== "function") return "the `export` property is not a function";
  return null;
}

/** What `push/facts.py` calls `Exported`: null when there is no such method. */
function callForText(owner, method, describe) {
  return attempt(() => {
    const callable = owner[method];
    if (callable === undefined) return null;
    return typeof callable === "function" ? textOrProblem(callable.call(owner)) : { problem: "notFunction" };
  }, describe);
}

function textOrProblem(value) {
  return typeof value === "string" ? { text: value } : { problem: "notString" };
}

function attempt(action, describe) {
  try {
    return action();
  } catch (error) {
    return { thrown: describe(error) };
  }
}

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function stringOrNull(value) {
  return typeof value === "string" ? value : null;
}
