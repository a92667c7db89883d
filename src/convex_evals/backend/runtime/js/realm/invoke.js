// Finds the exported function, checks that it is what the caller thinks it is, and runs it.
($) => {
  "use strict";
  const { host } = $;
  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const NativePromise = Promise;

  const refuse = (message) => host.refuse(message);

  const settle = (run, onValue) => {
    let promise;
    try {
      promise = NativePromise.resolve(run());
    } catch (error) {
      return host.rejected($.use("errors").describe(error));
    }
    return apply(then, promise, [onValue, (error) => host.rejected($.use("errors").describe(error))]);
  };

  const ENTRY = {
    __proto__: null,
    query: { flag: "isQuery", entry: "invokeQuery" },
    mutation: { flag: "isMutation", entry: "invokeMutation" },
    action: { flag: "isAction", entry: "invokeAction" },
  };

  const mismatch = (path, kind, registered) => {
    if (registered !== undefined)
      return `Function ${path} is registered as a ${registered} but is being run as a ${kind}.`;
    if (kind === "action") return `Function ${path} is not an action. Did you forget to wrap it with \`action\`?`;
    return `Function ${path} is neither a query or mutation. Did you forget to wrap it with \`query\` or \`mutation\`?`;
  };

  const registeredKind = (fn) => {
    if ((typeof fn !== "object" && typeof fn !== "function") || fn === null) return undefined;
    for (const kind in ENTRY) if (ENTRY[kind].flag in fn) return kind;
    return undefined;
  };

  const invokeFunction = (namespace, kind, module, name, args, requestId) => {
    const path = `${module}:${name}`;
    if (!(name in namespace)) return refuse(`Couldn't find "${name}" in module "${module}".`);
    const fn = namespace[name];
    const registered = registeredKind(fn);
    if (registered !== kind) return refuse(mismatch(path, kind, registered));
    const entry = fn[ENTRY[kind].entry];
    return settle(
      () => apply(entry, globalThis, kind === "action" ? [requestId, args] : [args]),
      (value) => {
        if (typeof value === "string") host.resolved(value);
        else refuse(`Function ${path} failed. Could not parse return value as json: expected a string`);
      },
    );
  };

  const invokeRouter = (namespace, module, requestText, path, method) => {
    const router = namespace.default;
    if (router === undefined) return refuse(`Couldn't find default export in module "${module}".`);
    if (router?.isRouter !== true) return refuse(`The default export of \`convex/${module}\` is not a Router.`);
    return settle(
      async () => {
        if (router.lookup(path, method) === null) return $.use("http").notFound();
        const text = await router.runRequest(requestText, path);
        return $.use("http").send(text);
      },
      () => host.resolved("null"),
    );
  };

  return {
    invoke(namespace, kind, ...rest) {
      if (kind === "httpAction") return invokeRouter(namespace, ...rest);
      return invokeFunction(namespace, kind, ...rest);
    },
  };
};
