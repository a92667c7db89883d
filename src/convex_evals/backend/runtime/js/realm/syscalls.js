// The `Convex` global that the SDK talks to.
($) => {
  "use strict";
  const DATABASE = [
    "1.0/queryStream",
    "1.0/queryStreamNext",
    "1.0/queryCleanup",
    "1.0/queryPage",
    "1.0/get",
    "1.0/insert",
    "1.0/shallowMerge",
    "1.0/replace",
    "1.0/remove",
    "1.0/count",
    "1.0/db/normalizeId",
  ];
  const CALLS = ["1.0/runUdf", "1.0/actions/query", "1.0/actions/mutation", "1.0/actions/action"];
  const includes = (list, name) => Reflect.apply(Array.prototype.includes, list, [name]);

  const refuseAtImport = (name) => {
    if ($.phase !== "import") return;
    if (includes(DATABASE, name)) throw new Error("Can't use database at import time");
    if (includes(CALLS, name)) throw new Error("Cannot call another function at import time");
    if (name === "1.0/componentArgument") throw new Error("Can't use `componentArg` at import time");
    throw new Error(`Syscall ${name} unsupported at import time`);
  };

  const requireStrings = (name, args) => {
    if (typeof name !== "string" || typeof args !== "string") {
      throw new TypeError("syscalls take a name and a JSON string");
    }
  };

  const JS_SYSCALLS = {
    __proto__: null,
    "storage/storeBlob": (args) => $.use("storage").store(args),
    "storage/getBlob": (args) => $.use("storage").get(args),
    requestFromConvexJson: (args) => $.use("http").request(args),
    convexJsonFromResponse: (args) => $.use("http").response(args),
  };

  return {
    Convex: {
      syscall(name, args) {
        requireStrings(name, args);
        refuseAtImport(name);
        const answer = $.host.syscallNow(name, args); // "=" and the result, or "!" and an error message
        if (answer[0] === "=") return answer.slice(1);
        throw new Error(answer.slice(1));
      },
      async asyncSyscall(name, args) {
        requireStrings(name, args);
        refuseAtImport(name);
        return await $.use("pending").syscall(name, args);
      },
      jsSyscall(name, args) {
        const syscall = JS_SYSCALLS[name];
        if (syscall === undefined) return $.terminate(`Unknown JS syscall: ${name}`);
        return syscall(args);
      },
    },
  };
};
