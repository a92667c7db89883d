// UTF-8 of all lengths
return [...new TextEncoder().encode("aé😀")];
//=> [97, 195, 169, 240, 159, 152, 128]

// Encoding into an array that is too short
return new TextEncoder().encodeInto("é😀", new Uint8Array(3));
//=> {"read": 1, "written": 2}

// A character split over two chunks
const d = new TextDecoder();
return d.decode(new Uint8Array([0xf0, 0x9f]), { stream: true }) + d.decode(new Uint8Array([0x98, 0x80]));
//=> "😀"

// Invalid bytes with `fatal`
try {
  new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]));
} catch (e) {
  return e instanceof TypeError;
}
//=> true

// Other encodings, by their labels
return [new TextDecoder("latin1").encoding, new TextDecoder("utf-16le").decode(new Uint8Array([104, 0, 105, 0]))];
//=> ["windows-1252", "hi"]

// An unknown encoding
try {
  new TextDecoder("nope");
} catch (e) {
  return e instanceof RangeError;
}
//=> true

// Base64 both ways
return [btoa("hello"), btoa(""), atob("aGVsbG8="), atob(" aGVs bG8 "), atob("/+8=").length];
//=> ["aGVsbG8=", "", "hello", "hello", 2]

// Characters that base64 cannot hold
try {
  btoa("ü€");
} catch (e) {
  return [e.name, e instanceof DOMException, e.code];
}
//=> ["InvalidCharacterError", true, 5]

// Base64 that is none
try {
  atob("a");
} catch (e) {
  return e.name;
}
//=> "InvalidCharacterError"
