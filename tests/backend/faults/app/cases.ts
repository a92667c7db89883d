// What functions can do to whoever runs them, by name.
import { ConvexError } from "convex/values";

const forever = () => {
  for (;;);
};

const hoard = () => {
  const hoarded = [];
  for (;;) hoarded.push(new Array(10_000).fill(hoarded.length));
};

const hoardBuffers = () => {
  const hoarded = [];
  for (;;) hoarded.push(new Uint8Array(8 * 1024 * 1024).fill(1));
};

const recurse = (): number => 1 + recurse();

const multiply = async (): Promise<unknown> => {
  await null;
  return Promise.all([multiply(), multiply()]);
};

const spinInPromises = async () => {
  for (;;) await null;
};

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const trap = () => {
  throw new Error("trapped");
};

const trapped = new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });

const errorWith = (members: PropertyDescriptorMap) => Object.defineProperties(new Error("odd"), members);

export const CASES: Record<string, () => unknown> = {
  loop: forever,
  announcedLoop: () => {
    console.log("looping");
    forever();
  },
  hoard,
  hoardBuffers,
  recurse,
  multiply,
  spinInPromises,
  backtrack: () => /^(a+)+$/.test("a".repeat(40) + "!"),
  catchLoop: () => {
    for (;;) {
      try {
        forever();
      } catch {}
    }
  },
  print: () => {
    for (let line = 0; line < 10_000; line++) console.log("line", line, "x".repeat(100));
    return "printed";
  },

  throwNull: () => {
    throw null;
  },
  throwUndefined: () => {
    throw undefined;
  },
  throwSymbol: () => {
    throw Symbol("sign");
  },
  throwFrozen: () => {
    throw Object.freeze(new Error("frozen"));
  },
  throwRevoked: () => {
    throw revoked();
  },
  throwTrapped: () => {
    throw trapped;
  },
  throwGetters: () => {
    throw { get name() { return trap(); }, get message() { return trap(); }, get constructor() { return trap(); } };
  },
  throwOddMessage: () => {
    throw errorWith({ message: { value: { toString: trap } } });
  },
  throwOddName: () => {
    throw errorWith({ name: { value: 7n } });
  },
  throwOddStack: () => {
    throw errorWith({ stack: { value: { not: "a string" } } });
  },
  throwTrappedMessage: () => {
    throw errorWith({ message: { get: trap } });
  },
  throwLoopingMessage: () => {
    throw errorWith({ message: { get: forever } });
  },
  throwLong: () => {
    throw new Error("x".repeat(1_000_000));
  },
  throwOddData: () => {
    throw new ConvexError(trapped as any);
  },
  rejectNull: () => Promise.reject(null),
  rejectUnheard: () => {
    void Promise.reject(new Error("unheard"));
    return 1;
  },

  returnToJson: () => ({ toJSON: () => "disguised" }),
  returnGetter: () => ({ get value() { return trap(); } }),
  returnTrapped: () => trapped,
  returnThenable: () => ({ then: (resolve: (value: string) => void) => resolve("thenable") }),
  returnNever: () => new Promise(() => {}),
  returnCycle: () => {
    const cycle: any[] = [];
    cycle.push(cycle);
    return cycle;
  },
  returnSurrogate: () => "\ud800",

  stringifyNumber: () => void (JSON.stringify = (() => 7) as any),
  stringifyNonsense: () => void (JSON.stringify = () => "nonsense"),
  deleteJson: () => delete (globalThis as any).JSON,
  deletePromise: () => delete (globalThis as any).Promise,
  deleteConvex: () => delete (globalThis as any).Convex,
  deleteEverything: () => {
    for (const name of Object.getOwnPropertyNames(globalThis)) delete (globalThis as any)[name];
    return "nothing left";
  },
  pollute: () => {
    Object.defineProperty(Object.prototype, "message", { get: trap, set: trap, configurable: true });
    Object.defineProperty(Object.prototype, "op", { get: trap, set: trap, configurable: true });
    Object.assign(Object.prototype, { result: "polluted", failure: "polluted", then: undefined });
    return "polluted";
  },
  breakThen: () => {
    Promise.prototype.then = trap as any;
    return "broken";
  },
  breakArrays: () => {
    Array.prototype[Symbol.iterator] = trap as any;
    Array.prototype.push = trap as any;
    Array.prototype.map = trap as any;
    return "broken";
  },
  breakReflect: () => {
    Reflect.apply = trap as any;
    Function.prototype.call = trap as any;
    Function.prototype.apply = trap as any;
    return "broken";
  },
  breakErrors: () => {
    Error.prototype.toString = trap as any;
    Object.defineProperty(Error.prototype, "name", { get: trap });
    throw new Error("broken");
  },
};

/** What every function may rely on. */
export const checkup = async () => {
  const polluted = [];
  for (const key in {}) polluted.push(key);
  const copied = JSON.parse(JSON.stringify({ list: [1, 2].map((n) => n + 1) }));
  return { polluted, copied, caught: await Promise.reject(new Error("x")).catch((error) => `${error}`) };
};
