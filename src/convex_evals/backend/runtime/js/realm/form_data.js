// FormData, and its two encodings.
($) => {
  "use strict";
  const { Blob, File, bytesOf } = $.use("blob");

  const asEntry = (value, filename) => {
    if (!(value instanceof Blob)) return `${value}`;
    if (value instanceof File && filename === undefined) return value;
    return new File([value], filename ?? "blob", { type: value.type });
  };

  class FormData {
    #entries = [];
    append(name, value, filename = undefined) {
      this.#entries.push([`${name}`, asEntry(value, filename)]);
    }
    delete(name) {
      this.#entries = this.#entries.filter(([key]) => key !== `${name}`);
    }
    get(name) {
      return this.#entries.find(([key]) => key === `${name}`)?.[1] ?? null;
    }
    getAll(name) {
      return this.#entries.filter(([key]) => key === `${name}`).map(([, value]) => value);
    }
    has(name) {
      return this.#entries.some(([key]) => key === `${name}`);
    }
    set(name, value, filename = undefined) {
      const index = this.#entries.findIndex(([key]) => key === `${name}`);
      const entry = [`${name}`, asEntry(value, filename)];
      this.#entries = this.#entries.filter(([key]) => key !== `${name}`);
      this.#entries.splice(index < 0 ? this.#entries.length : index, 0, entry);
    }
    forEach(callback, thisArg = undefined) {
      for (const [name, value] of this) callback.call(thisArg, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#entries) yield [name, value];
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    get [Symbol.toStringTag]() {
      return "FormData";
    }
  }

  const escapeName = (name) => name.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22");

  const encodePart = (boundary, name, value) => {
    const { encode } = $.use("encoding");
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === "string") return [encode(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, "\r\n")}\r\n`)];
    const type = value.type || "application/octet-stream";
    return [
      encode(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`),
      bytesOf(value),
      encode("\r\n"),
    ];
  };

  const encodeMultipart = (form) => {
    let boundary = "----formdata-convex-";
    for (let i = 0; i < 16; i++) boundary += Math.floor(Math.random() * 36).toString(36);
    const parts = [...form].flatMap(([name, value]) => encodePart(boundary, name, value));
    const bytes = $.use("bytes").concat([...parts, $.use("encoding").encode(`--${boundary}--\r\n`)]);
    return { bytes, type: `multipart/form-data; boundary=${boundary}` };
  };

  const find = (bytes, pattern, from) => {
    outer: for (let i = from; i <= bytes.length - pattern.length; i++) {
      for (let j = 0; j < pattern.length; j++) if (bytes[i + j] !== pattern[j]) continue outer;
      return i;
    }
    return -1;
  };

  const parameter = (header, name) => {
    const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i").exec(header);
    return match === null ? undefined : (match[1] ?? match[2]);
  };
  const unescapeName = (name) => name.replace(/%0A/gi, "\n").replace(/%0D/gi, "\r").replace(/%22/g, '"');

  const decodePart = (form, bytes) => {
    const { encode, decodeUtf8 } = $.use("encoding");
    const split = find(bytes, encode("\r\n\r\n"), 0);
    if (split < 0) throw new TypeError("Failed to parse body as FormData: a part has no header");
    const headers = decodeUtf8(bytes.subarray(0, split)).split("\r\n");
    const header = (name) =>
      headers
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim();
    const disposition = header("content-disposition") ?? "";
    const name = parameter(disposition, "name");
    if (name === undefined) throw new TypeError("Failed to parse body as FormData: a part has no name");
    const content = bytes.slice(split + 4);
    const filename = parameter(disposition, "filename");
    if (filename === undefined) return form.append(unescapeName(name), decodeUtf8(content));
    return form.append(
      unescapeName(name),
      new File([content], unescapeName(filename), { type: header("content-type") ?? "text/plain" }),
    );
  };

  const decodeMultipart = (bytes, contentType) => {
    const boundary = parameter(contentType, "boundary");
    if (boundary === undefined) throw new TypeError("Failed to parse body as FormData: no boundary");
    const delimiter = $.use("encoding").encode(`--${boundary}`);
    const form = new FormData();
    let start = find(bytes, delimiter, 0);
    if (start < 0) throw new TypeError("Failed to parse body as FormData");
    for (;;) {
      start += delimiter.length;
      if (bytes[start] === 45 && bytes[start + 1] === 45) return form; // "--" ends the body
      const end = find(bytes, delimiter, start);
      if (end < 0) throw new TypeError("Failed to parse body as FormData: the closing boundary is missing");
      decodePart(form, bytes.subarray(start + 2, end - 2));
      start = end;
    }
  };

  const decodeForm = (bytes, contentType) => {
    const essence = (contentType ?? "").split(";")[0].trim().toLowerCase();
    if (essence === "multipart/form-data") return decodeMultipart(bytes, contentType);
    if (essence !== "application/x-www-form-urlencoded") throw new TypeError("Could not parse content as FormData.");
    const form = new FormData();
    for (const [name, value] of new ($.use("url").URLSearchParams)($.use("encoding").decodeUtf8(bytes)))
      form.append(name, value);
    return form;
  };

  return { FormData, encodeMultipart, decodeForm };
};
