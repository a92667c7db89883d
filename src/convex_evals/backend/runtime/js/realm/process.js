// `process.env`: look-ups only. The proxy's target stays empty, so nothing can be listed.
($) => {
  "use strict";
  const VALID_NAME = /^[a-zA-Z_]+[a-zA-Z0-9_]*$/;
  const { test } = RegExp.prototype;
  const env = new Proxy(
    {},
    {
      get(target, name, receiver) {
        if (typeof name !== "string") return Reflect.get(target, name, receiver);
        if (name in target) return target[name];
        if (!Reflect.apply(test, VALID_NAME, [name])) {
          throw new Error(
            `The environment variable name ${name} is invalid. Environment variable names must begin with a letter ` +
              "and may only include characters a-z, A-Z, 0-9, and underscores.",
          );
        }
        const value = $.host.env(name);
        const refusal = value === undefined ? $.host.envRefusal(name) : undefined;
        if (refusal !== undefined) throw new Error(refusal);
        return value;
      },
    },
  );
  return { process: { env } };
};
