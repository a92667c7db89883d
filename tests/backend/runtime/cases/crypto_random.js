// ECDSA with a fresh key
const text = (string) => new TextEncoder().encode(string);
const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const how = { name: "ECDSA", hash: "SHA-256" };
const s = await crypto.subtle.sign(how, pair.privateKey, text("m"));
return await crypto.subtle.verify(how, pair.publicKey, s, text("m"));
//=> true

// X25519 agrees on a secret
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const a = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]);
const b = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]);
const shared = (mine, theirs) =>
  crypto.subtle.deriveBits({ name: "X25519", public: theirs.publicKey }, mine.privateKey, 256);
return hex(await shared(a, b)) === hex(await shared(b, a));
//=> true

// RSA-OAEP both ways
const text = (string) => new TextEncoder().encode(string);
const pair = await crypto.subtle.generateKey(
  { name: "RSA-OAEP", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
  true,
  ["encrypt", "decrypt"],
);
const c = await crypto.subtle.encrypt("RSA-OAEP", pair.publicKey, text("x"));
return [
  new TextDecoder().decode(await crypto.subtle.decrypt("RSA-OAEP", pair.privateKey, c)),
  [...pair.publicKey.algorithm.publicExponent],
];
//=> ["x", [1, 0, 1]]
