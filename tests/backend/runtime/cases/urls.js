// A relative URL is resolved against its base
return new URL("../c?x=1#h", "https://u:p@ex.com:8080/a/b/").href;
//=> "https://u:p@ex.com:8080/a/c?x=1#h"

// The parts of a URL
const u = new URL("http://a.b/c?d=1");
return [u.origin, u.host, u.pathname, u.search, u.protocol, u.hash, u.port];
//=> ["http://a.b", "a.b", "/c", "?d=1", "http:", "", ""]

// Changes of parts and parameters show in the URL
const u = new URL("http://a/");
u.searchParams.append("q", "ä b&");
u.pathname = "/x y";
return u + "";
//=> "http://a/x%20y?q=%C3%A4+b%26"

// Parameters follow the URL they came from
const u = new URL("http://a/?x=1");
const p = u.searchParams;
u.search = "?y=2";
return [p.get("x"), p.get("y")];
//=> [null, "2"]

// What cannot be parsed is said without throwing
return [URL.canParse("nope"), URL.parse("nope"), URL.canParse("/x", "http://a")];
//=> [false, null, true]

// or with a TypeError
try {
  new URL("nope");
} catch (e) {
  return [e instanceof TypeError, e.message];
}
//=> [true, "Invalid URL"]

// A URL in JSON is its text
return JSON.stringify({ u: new URL("http://a") });
//=> "{\"u\":\"http://a/\"}"

// Parameters keep their order and repeat
const p = new URLSearchParams("?a=1&b=2&a=3&c");
return [[...p], p.getAll("a"), p.has("b", "3"), p.size, p.get("c")];
//=> [[["a", "1"], ["b", "2"], ["a", "3"], ["c", ""]], ["1", "3"], false, 4, ""]

// Parameters are encoded as forms are
const p = new URLSearchParams({ b: 1, a: "+ %" });
p.sort();
p.set("c", "x");
p.delete("b");
return `${p}`;
//=> "a=%2B+%25&c=x"

// Parameters from pairs
return [...new URLSearchParams([["k", "v"]]).keys()];
//=> ["k"]
