// Text encodings. UTF-8 is encoded and every label decoded by the worker; base64 is done here.
($) => {
  "use strict";
  const { host } = $;
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const encode = (text) => {
    const bytes = new Uint8Array(host.utf8Length(text));
    host.utf8Write(text, bytes);
    return bytes;
  };

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(input = "") {
      return encode(`${input}`);
    }
    encodeInto(source, destination) {
      const [read, written] = host.utf8Into(`${source}`, $.use("bytes").toBytes(destination)).split(" ");
      return { read: Number(read), written: Number(written) };
    }
    get [Symbol.toStringTag]() {
      return "TextEncoder";
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #id = undefined; // of the worker's decoder, which keeps what is left of the last chunk
    constructor(label = "utf-8", options = {}) {
      const encoding = host.encodingOf(`${label}`);
      if (encoding === undefined) throw new RangeError(`The "${label}" encoding is not supported`);
      this.#encoding = encoding;
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(input = new Uint8Array(0), options = {}) {
      const bytes = $.use("bytes").toBytes(input);
      this.#id ??= host.decoder(this.#encoding, this.#fatal, this.#ignoreBOM);
      const text = host.decode(this.#id, bytes, Boolean(options?.stream));
      if (text === undefined) throw new TypeError("The encoded data was not valid for encoding " + this.#encoding);
      return text;
    }
    get [Symbol.toStringTag]() {
      return "TextDecoder";
    }
  }

  const invalid = (message) => new ($.use("events").DOMException)(message, "InvalidCharacterError");

  const btoa = (input) => {
    const text = `${input}`;
    let result = "";
    for (let i = 0; i < text.length; i += 3) {
      const codes = [text.charCodeAt(i), text.charCodeAt(i + 1), text.charCodeAt(i + 2)];
      if (codes.some((code) => code > 255))
        throw invalid("The string to be encoded contains characters outside of the Latin1 range.");
      const [a, b, c] = codes;
      result += ALPHABET[a >> 2] + ALPHABET[((a & 3) << 4) | (b >> 4)];
      result += i + 1 < text.length ? ALPHABET[((b & 15) << 2) | (c >> 6)] : "=";
      result += i + 2 < text.length ? ALPHABET[c & 63] : "=";
    }
    return result;
  };

  const atob = (input) => {
    let text = `${input}`.replace(/[\t\n\f\r ]/g, "");
    if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
      throw invalid("The string to be decoded is not correctly encoded.");
    let result = "";
    let bits = 0;
    let count = 0;
    for (const character of text) {
      bits = (bits << 6) | ALPHABET.indexOf(character);
      count += 6;
      if (count < 8) continue;
      count -= 8;
      result += String.fromCharCode((bits >> count) & 255);
      bits &= (1 << count) - 1;
    }
    return result;
  };

  return { TextEncoder, TextDecoder, atob, btoa, encode, decodeUtf8: (bytes) => new TextDecoder().decode(bytes) };
};
