// Web Cryptography for realm/crypto.js. Keys live here, one table per context. Node loads
// its part when it is first used.

const tables = new WeakMap(); // context → keys

function keysOf(context) {
  if (!tables.has(context)) tables.set(context, []);
  return tables.get(context);
}

function unpack(value, keys) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => unpack(item, keys));
  if (value.$bytes) return Uint8Array.from(value.$bytes);
  if (value.$key !== undefined) return keys[value.$key];
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item, keys)]));
}

function describeKey(key, keys) {
  const { publicExponent, ...algorithm } = key.algorithm;
  if (publicExponent) algorithm.publicExponent = [...publicExponent];
  return { id: keys.push(key) - 1, type: key.type, extractable: key.extractable, algorithm, usages: key.usages };
}

function result(outcome, keys) {
  if (outcome instanceof ArrayBuffer) return { value: null, bytes: new Uint8Array(outcome) };
  if (outcome instanceof CryptoKey) return { value: describeKey(outcome, keys) };
  if (outcome?.privateKey instanceof CryptoKey) {
    return {
      value: { publicKey: describeKey(outcome.publicKey, keys), privateKey: describeKey(outcome.privateKey, keys) },
    };
  }
  return { value: outcome }; // a boolean, or a JSON web key
}

function operation(method, { takesData = false } = {}) {
  return async (packed, bytes, context) => {
    const keys = keysOf(context);
    const args = unpack(packed, keys);
    if (takesData) args.push(bytes ?? new Uint8Array(0));
    return result(await crypto.subtle[method](...args), keys);
  };
}

export const cryptoOperations = {
  "crypto.digest": operation("digest", { takesData: true }),
  "crypto.sign": operation("sign", { takesData: true }),
  "crypto.verify": operation("verify", { takesData: true }),
  "crypto.encrypt": operation("encrypt", { takesData: true }),
  "crypto.decrypt": operation("decrypt", { takesData: true }),
  "crypto.deriveBits": operation("deriveBits"),
  "crypto.deriveKey": operation("deriveKey"),
  "crypto.importKey": operation("importKey"),
  "crypto.exportKey": operation("exportKey"),
  "crypto.generateKey": operation("generateKey"),
};
