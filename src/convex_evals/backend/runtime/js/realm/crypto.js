// Web Cryptography. Keys stay in the worker and are known here by number; work is done by Node's implementation.
($) => {
  "use strict";
  const KEY = Symbol();
  const INTEGER_ARRAYS = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
  ];
  const QUOTA = 65536;
  const RANDOMIZED_SIGNATURES = ["ECDSA", "RSA-PSS"];
  let idOf;

  class CryptoKey {
    #id;
    #info;
    constructor(key, info) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      this.#id = info.id;
      this.#info = info;
    }
    static {
      idOf = (key) => {
        if (typeof key !== "object" || key === null || !(#id in key)) throw new TypeError("expected a CryptoKey");
        return key.#id;
      };
    }
    get type() {
      return this.#info.type;
    }
    get extractable() {
      return this.#info.extractable;
    }
    get algorithm() {
      return this.#info.algorithm;
    }
    get usages() {
      return this.#info.usages;
    }
    get [Symbol.toStringTag]() {
      return "CryptoKey";
    }
  }

  /** Arguments as JSON: byte sources and keys inside algorithms are tagged so that the worker can rebuild them. */
  const pack = (value) => {
    const { isBufferSource, toBytes } = $.use("bytes");
    if (typeof value !== "object" || value === null) return value;
    if (isBufferSource(value)) return { $bytes: Array.from(toBytes(value)) };
    if (value instanceof CryptoKey) return { $key: idOf(value) };
    if (Array.isArray(value)) return value.map(pack);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pack(item)]));
  };
  const unpackKey = (info) => {
    if (info.algorithm.publicExponent) info.algorithm.publicExponent = Uint8Array.from(info.algorithm.publicExponent);
    return new CryptoKey(KEY, info);
  };
  const nameOf = (algorithm) =>
    `${typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm}`.toUpperCase();

  const forbidRandomness = () => {
    if ($.phase === "import") throw new Error("Cannot use cryptographic randomness at import time");
    if ($.transactional) $.requireAction("cryptographic randomness");
  };
  const run = (method, args, data = undefined) =>
    $.use("pending").operation(
      `crypto.${method}`,
      pack(args),
      data === undefined ? undefined : $.use("bytes").toBytes(data).slice(),
    );
  const buffer = ({ bytes }) => bytes.buffer;

  class SubtleCrypto {
    constructor(key) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }
    async digest(algorithm, data) {
      return buffer(await run("digest", [algorithm], data));
    }
    async sign(algorithm, key, data) {
      if (RANDOMIZED_SIGNATURES.includes(nameOf(algorithm))) forbidRandomness();
      return buffer(await run("sign", [algorithm, key], data));
    }
    async verify(algorithm, key, signature, data) {
      return (await run("verify", [algorithm, key, signature], data)).value;
    }
    async encrypt(algorithm, key, data) {
      if (nameOf(algorithm) === "RSA-OAEP") forbidRandomness();
      return buffer(await run("encrypt", [algorithm, key], data));
    }
    async decrypt(algorithm, key, data) {
      return buffer(await run("decrypt", [algorithm, key], data));
    }
    async deriveBits(algorithm, key, length = null) {
      return buffer(await run("deriveBits", [algorithm, key, length]));
    }
    async deriveKey(algorithm, key, derived, extractable, usages) {
      return unpackKey((await run("deriveKey", [algorithm, key, derived, Boolean(extractable), [...usages]])).value);
    }
    async importKey(format, keyData, algorithm, extractable, usages) {
      return unpackKey(
        (await run("importKey", [`${format}`, keyData, algorithm, Boolean(extractable), [...usages]])).value,
      );
    }
    async exportKey(format, key) {
      const { value, bytes } = await run("exportKey", [`${format}`, key]);
      return bytes === undefined ? value : bytes.buffer;
    }
    async generateKey(algorithm, extractable, usages) {
      forbidRandomness();
      const { value } = await run("generateKey", [algorithm, Boolean(extractable), [...usages]]);
      if (value.privateKey === undefined) return unpackKey(value);
      return { publicKey: unpackKey(value.publicKey), privateKey: unpackKey(value.privateKey) };
    }
    async wrapKey() {
      return $.notImplemented("wrapKey", "SubtleCrypto");
    }
    async unwrapKey() {
      return $.notImplemented("unwrapKey", "SubtleCrypto");
    }
    get [Symbol.toStringTag]() {
      return "SubtleCrypto";
    }
  }
  const subtle = new SubtleCrypto(KEY);

  const randomBytes = (bytes) => {
    if ($.phase === "import") throw new Error("Cannot use cryptographic randomness at import time");
    $.use("random").fill(bytes);
    return bytes;
  };
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  class Crypto {
    constructor(key) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
    }
    get subtle() {
      return subtle;
    }
    getRandomValues(array) {
      const { DOMException } = $.use("events");
      if (!INTEGER_ARRAYS.some((type) => array instanceof type)) {
        throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
      }
      if (array.byteLength > QUOTA) {
        throw new DOMException(
          `The ArrayBufferView's byte length (${array.byteLength}) exceeds the number of bytes of entropy ` +
            `available via this API (${QUOTA})`,
          "QuotaExceededError",
        );
      }
      randomBytes($.use("bytes").toBytes(array));
      return array;
    }
    randomUUID() {
      const bytes = randomBytes(new Uint8Array(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const text = hex(bytes);
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
    }
    get [Symbol.toStringTag]() {
      return "Crypto";
    }
  }

  return { crypto: new Crypto(KEY), Crypto, CryptoKey, SubtleCrypto };
};
