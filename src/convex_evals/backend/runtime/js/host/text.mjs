// Text encodings for realm/encoding.js and form encoding for realm/url.js.
const encoder = new TextEncoder();

export function textHost() {
  const decoders = [];
  return {
    utf8Length: (text) => Buffer.byteLength(text),
    utf8Write: (text, target) => {
      encoder.encodeInto(text, target);
    },
    utf8Into: (text, target) => {
      const { read, written } = encoder.encodeInto(text, target);
      return `${read} ${written}`;
    },
    encodingOf(label) {
      try {
        return new TextDecoder(label).encoding;
      } catch {
        return undefined;
      }
    },
    decoder: (encoding, fatal, ignoreBOM) => decoders.push(new TextDecoder(encoding, { fatal, ignoreBOM })) - 1,
    decode(id, bytes, stream) {
      try {
        return decoders[id].decode(bytes, { stream });
      } catch {
        return undefined;
      }
    },
    decodeForm: (text) => new URLSearchParams(`x=${text.replaceAll("&", "%26")}`).get("x"),
    encodeForm: (text) => new URLSearchParams({ x: text }).toString().slice(2),
  };
}
