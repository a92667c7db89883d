// Node.js actions share their process with those that follow. A damaged language must not be what they leave behind.

const { getOwnPropertyDescriptor, ownKeys } = Reflect;
const { is } = Object;
const NAMES = [
  "Array", "ArrayBuffer", "BigInt", "Boolean", "Date", "Function", "JSON", "Map", "Math", "Number", "Object", "Promise", "Proxy",
  "Reflect", "RegExp", "Set", "String", "Symbol", "TypeError", "Uint8Array", "WeakMap", "Buffer", "Convex", "console", "process",
];
const PROTOTYPES = [Error.prototype, Object.getPrototypeOf(Uint8Array.prototype), Object.getPrototypeOf(async () => {})];

class Remembered {
  constructor(holder, keys = ownKeys(holder)) {
    this.holder = holder;
    this.keys = keys;
    this.members = keys.map((key) => getOwnPropertyDescriptor(holder, key));
  }

  /** Nothing here may rely on what user code can change. */
  isIntact() {
    for (let i = 0; i < this.keys.length; i++) {
      const now = getOwnPropertyDescriptor(this.holder, this.keys[i]);
      const { value, get, set } = this.members[i];
      if (now === undefined || !is(now.value, value) || now.get !== get || now.set !== set) return false;
    }
    return true;
  }
}

class Closed extends Remembered {
  isIntact() {
    return ownKeys(this.holder).length === this.keys.length && super.isIntact();
  }
}

/** Returns a function that tells whether the language is still what it is now. */
export function rememberIntrinsics() {
  const values = NAMES.map((name) => globalThis[name]);
  const prototypes = values.map((value) => value.prototype).filter((prototype) => prototype !== undefined);
  const remembered = [
    new Remembered(globalThis, NAMES),
    new Closed(Object.prototype),
    ...[JSON, Math, Promise, Reflect, Object, Array].map((holder) => new Remembered(holder)),
    ...[...prototypes, ...PROTOTYPES].map((holder) => new Remembered(holder)),
  ];
  return () => {
    for (let i = 0; i < remembered.length; i++) if (!remembered[i].isIntact()) return false;
    return true;
  };
}
