// A listener that listens once
const t = new EventTarget();
let n = 0;
t.addEventListener("x", () => n++, { once: true });
t.dispatchEvent(new Event("x"));
t.dispatchEvent(new Event("x"));
return n;
//=> 1

// A default that is prevented
const t = new EventTarget();
t.addEventListener("x", (e) => e.preventDefault());
return t.dispatchEvent(new Event("x", { cancelable: true }));
//=> false

// A listener object
const t = new EventTarget();
let seen;
t.addEventListener("x", {
  handleEvent(e) {
    seen = [e.type, e.target === t];
  },
});
t.dispatchEvent(new Event("x"));
return seen;
//=> ["x", true]

// Aborting happens once
const c = new AbortController();
let n = 0;
c.signal.onabort = () => n++;
c.abort();
c.abort();
return [n, c.signal.aborted, c.signal.reason.name];
//=> [1, true, "AbortError"]

// A signal that is aborted already
const s = AbortSignal.abort("r");
try {
  s.throwIfAborted();
} catch (e) {
  return e;
}
//=> "r"

// The first of several signals
const c = new AbortController();
const any = AbortSignal.any([c.signal, new AbortController().signal]);
c.abort(5);
return any.reason;
//=> 5

// DOMException is an Error with a code
const e = new DOMException("m", "DataCloneError");
return [e.name, e.message, e.code, e instanceof Error];
//=> ["DataCloneError", "m", 25, true]
