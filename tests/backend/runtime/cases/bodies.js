// Header names are lower-cased, values joined
const h = new Headers({ B: " 2 " });
h.append("a", "1");
h.append("A", "3");
return [[...h], h.get("b"), h.has("C")];
//=> [[["a", "1, 3"], ["b", "2"]], "2", false]

// Set-Cookie headers stay apart
const h = new Headers();
h.append("Set-Cookie", "a");
h.append("set-cookie", "b");
return [h.getSetCookie(), [...h].length];
//=> [["a", "b"], 2]

// An invalid header name
try {
  new Headers({ "a b": "1" });
} catch (e) {
  return e instanceof TypeError;
}
//=> true

// A response with text
const r = new Response("hi", { status: 201 });
return [r.status, r.ok, r.headers.get("content-type"), await r.text(), r.bodyUsed];
//=> [201, true, "text/plain;charset=UTF-8", "hi", true]

// A body is read once
const r = new Response("x");
await r.text();
try {
  await r.text();
} catch (e) {
  return e.message;
}
//=> "Body has already been consumed."

// A response with JSON
return (await Response.json({ a: [1] }).json()).a;
//=> [1]

// A clone has the same body
const r = new Response("x");
const c = r.clone();
return [await r.text(), await c.text()];
//=> ["x", "x"]

// A redirect
const r = Response.redirect("http://a/b", 307);
return [r.status, r.headers.get("location")];
//=> [307, "http://a/b"]

// A status without body refuses one
try {
  new Response("x", { status: 204 });
} catch (e) {
  return e instanceof TypeError;
}
//=> true

// A status out of range
try {
  new Response("x", { status: 99 });
} catch (e) {
  return e instanceof RangeError;
}
//=> true

// A request with a form
const r = new Request("http://a/", { method: "post", body: new URLSearchParams({ a: "b c" }) });
return [r.method, r.headers.get("content-type"), await r.text()];
//=> ["POST", "application/x-www-form-urlencoded;charset=UTF-8", "a=b+c"]

// A request made from another
const r = new Request("http://a/x", { headers: { k: "v" } });
const s = new Request(r, { method: "PUT", body: "b" });
return [s.url, s.method, s.headers.get("k"), r.body];
//=> ["http://a/x", "PUT", "v", null]

// A GET request has no body
try {
  new Request("http://a", { body: "x" });
} catch (e) {
  return e.message;
}
//=> "Request with GET/HEAD method cannot have body."

// A blob of several parts
const b = new Blob(["a", new Uint8Array([98]), new Blob(["c"])], { type: "Text/Plain" });
return [b.size, b.type, await b.text(), await b.slice(1, 2).text()];
//=> [3, "text/plain", "abc", "b"]

// A file is a blob with a name
const f = new File(["x"], "n.txt", { lastModified: 5 });
return [f.name, f.lastModified, f instanceof Blob, `${f}`];
//=> ["n.txt", 5, true, "[object File]"]

// A blob as a stream
const parts = [];
for await (const chunk of new Blob(["abc"]).stream()) parts.push(...chunk);
return parts;
//=> [97, 98, 99]
