// SHA-256
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (string) => new TextEncoder().encode(string);
return hex(await crypto.subtle.digest("SHA-256", text("abc")));
//=> "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

// SHA-1 of nothing
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (string) => new TextEncoder().encode(string);
return hex(await crypto.subtle.digest({ name: "SHA-1" }, text("").buffer));
//=> "da39a3ee5e6b4b0d3255bfef95601890afd80709"

// HMAC: sign and verify
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (string) => new TextEncoder().encode(string);
const k = await crypto.subtle.importKey("raw", text("key"), { name: "HMAC", hash: "SHA-256" }, true, [
  "sign",
  "verify",
]);
const s = await crypto.subtle.sign("HMAC", k, text("m"));
return [
  hex(s),
  await crypto.subtle.verify("HMAC", k, s, text("m")),
  await crypto.subtle.verify("HMAC", k, s, text("n")),
  k.type,
  k.algorithm.name,
  k.usages,
];
//=> ["782906cfdc87462bf9242b96f17057c3389530ff937920823bf7a583f5d983a5", true, false, "secret", "HMAC", ["sign", "verify"]]

// PBKDF2
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (string) => new TextEncoder().encode(string);
const k = await crypto.subtle.importKey("raw", text("key"), "PBKDF2", false, ["deriveBits", "deriveKey"]);
return hex(
  await crypto.subtle.deriveBits({ name: "PBKDF2", salt: text("salt"), iterations: 10, hash: "SHA-256" }, k, 256),
);
//=> "9af21ddf305fe2e9b005eee3db6329eae4d4d16e395fbcd806b3029769823b17"

// AES-GCM both ways
const text = (string) => new TextEncoder().encode(string);
const k = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt", "decrypt"]);
const iv = new Uint8Array(12);
const c = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, k, text("hello"));
return [
  c.byteLength,
  new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, k, c)),
  (await crypto.subtle.exportKey("jwk", k)).kty,
];
//=> [21, "hello", "oct"]

// A key of the wrong length
try {
  await crypto.subtle.importKey("raw", new Uint8Array(3), "AES-GCM", true, ["encrypt"]);
} catch (e) {
  return [e.name, e instanceof DOMException];
}
//=> ["DataError", true]

// Two digests at once
const text = (string) => new TextEncoder().encode(string);
return (await Promise.all(["a", "b"].map((t) => crypto.subtle.digest("SHA-1", text(t))))).length;
//=> 2
