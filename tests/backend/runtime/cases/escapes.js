// Each of these returns something falsy, or throws, when it failed to get out.

return this?.constructor.constructor("return process")();

//--
return globalThis.constructor.constructor("return process")();

//--
return (async () => {}).constructor("return process")();

//--
return Convex.syscall.constructor("return process")();

//--
return console.log.constructor("return process")().pid;

//--
return process.constructor.constructor("return this")().process.pid;

//--
return process.env.constructor.constructor("return process")();

//--
return process.binding("fs");

//--
return (await import("fs")).readFileSync("/etc/passwd", "utf8");

//--
return (await import("node:child_process")).execSync("id") + "";

//--
return import("./x.js").constructor.constructor("return process")();

//--
const p = import("./x.js");
p.catch(() => {});
return p.constructor !== Promise && (p.constructor.prototype.then = null) === null;

//--
try {
  (function f() {
    f();
  })();
} catch (e) {
  return e.constructor.constructor("return process")();
}

//--
try {
  Convex.syscall("1.0/nope", "{}");
} catch (e) {
  return e.constructor.constructor("return process")();
}

//--
try {
  new URL("x");
} catch (e) {
  return e.constructor.constructor("return process")();
}

//--
Error.prepareStackTrace = (e, s) => s;
const s = new Error().stack;
return Array.isArray(s) && s[0].getThis();

//--
return Error.prepareStackTrace(new Error(), [
  {
    isPromiseAll: () => false,
    getFileName() {
      return this.constructor.constructor("return process")();
    },
  },
]);

//--
return __convexEnter.constructor("return process")();

//--
return __convexEnter.call.call(function () {
  return this?.process?.pid;
});

//--
globalThis.__convexEnter = () => {
  throw new Error("stolen");
};

//--
const { run } = AsyncLocalStorage.prototype;
return run.constructor("return process")();

//--
return new AsyncLocalStorage().run(1, function () {
  return this?.process?.pid ?? arguments.callee?.caller;
});

//--
return (function () {
  return this;
})()?.process?.pid;

//--
return [].find.constructor("return process")();

//--
return new Proxy({}, { get: (t, k, r) => r.constructor.constructor("return process")() }).x;

//--
return WebAssembly.Module.constructor("return process")();

//--
return structuredClone(new Error("x")).constructor.constructor("return process")();

//--
const b = crypto.subtle.digest("SHA-256", new Uint8Array(1));
return (await b).constructor.constructor("return process")();

//--
return new Intl.DateTimeFormat().format.constructor("return process")();

//--
return (
  Reflect.getPrototypeOf(Object.getPrototypeOf(process.env)) ??
  process.env.__proto__.constructor.constructor("return process")()
);

//--
return process.mainModule ?? process.exit ?? process.kill;

//--
return globalThis.Deno ?? globalThis.Bun ?? globalThis.require ?? globalThis.module;
