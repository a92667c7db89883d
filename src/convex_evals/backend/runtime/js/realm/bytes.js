// Views of any kind as plain bytes.
() => {
  "use strict";
  const describe = (value) => Object.prototype.toString.call(value);
  const isBuffer = (value) =>
    value instanceof ArrayBuffer ||
    describe(value) === "[object ArrayBuffer]" ||
    describe(value) === "[object SharedArrayBuffer]";

  return {
    isBufferSource: (value) => ArrayBuffer.isView(value) || isBuffer(value),
    /** A fresh Uint8Array over (not a copy of) the same memory. */
    toBytes(source) {
      if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
      if (isBuffer(source)) return new Uint8Array(source);
      throw new TypeError("expected an ArrayBuffer or a view of one");
    },
    concat(chunks) {
      const result = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
      let offset = 0;
      for (const chunk of chunks) {
        result.set(chunk, offset);
        offset += chunk.length;
      }
      return result;
    },
  };
};
