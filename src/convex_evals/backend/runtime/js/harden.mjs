// Freezes the intrinsics of the worker's own realm. User code runs in other realms and is never handed an object of
// this one on purpose; should one leak (an error thrown by the engine, the promise of `import()`), nothing can be changed
// through it, and code generation from strings is off, so it leads nowhere.

const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array);
const ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const GENERATOR = Object.getPrototypeOf(function* () {});
const ASYNC_GENERATOR = Object.getPrototypeOf(async function* () {});
const ASYNC_FUNCTION = Object.getPrototypeOf(async () => {});

const ERRORS = [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
const CONSTRUCTORS = [
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  BigInt,
  Symbol,
  RegExp,
  Date,
  Promise,
  Map,
  Set,
  WeakMap,
  WeakSet,
  WeakRef,
  ArrayBuffer,
  SharedArrayBuffer,
  DataView,
  TYPED_ARRAY,
  Uint8Array,
  Proxy,
  ...ERRORS,
];
const OBJECTS = [
  JSON,
  Math,
  Reflect,
  Atomics,
  ITERATOR,
  GENERATOR,
  GENERATOR.prototype,
  ASYNC_GENERATOR,
  ASYNC_GENERATOR.prototype,
  ASYNC_FUNCTION,
];

/** On a frozen prototype a plain assignment to an inherited name would throw; an accessor lets instances shadow it. */
function allowShadowing(prototype) {
  for (const key of Reflect.ownKeys(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
    if (!descriptor.configurable || !("value" in descriptor)) continue;
    const { value, enumerable } = descriptor;
    Object.defineProperty(prototype, key, {
      get: () => value,
      set(own) {
        if (this === prototype) return;
        Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      },
      enumerable,
      configurable: false,
    });
  }
}

function freezeWithMembers(object) {
  for (const key of Reflect.ownKeys(object)) {
    const value = Object.getOwnPropertyDescriptor(object, key).value;
    if (typeof value === "function") Object.freeze(value);
  }
  Object.freeze(object);
}

export function hardenIntrinsics() {
  for (const constructor of [Object, Function, ...ERRORS]) allowShadowing(constructor.prototype);
  for (const constructor of CONSTRUCTORS) {
    if (constructor.prototype) freezeWithMembers(constructor.prototype);
    // Node sets Error.stackTraceLimit around its own errors.
    if (constructor !== Error) freezeWithMembers(constructor);
  }
  OBJECTS.forEach(freezeWithMembers);
}
