// Values of all kinds and a circle
const o = { d: new Date(5), m: new Map([[1, new Set([2])]]), a: new Uint8Array([1, 2]), r: /x/g, n: [1, , 3] };
o.self = o;
const c = structuredClone(o);
return [c.self === c, c.d.getTime(), c.m.get(1).has(2), [...c.a], c.r.flags, 1 in c.n, c !== o];
//=> [true, 5, true, [1, 2], "g", false, true]

// Functions cannot be cloned
try {
  structuredClone(() => 1);
} catch (e) {
  return [e.name, e.message];
}
//=> ["DataCloneError", "() => 1 could not be cloned."]

// Errors keep their class
const e = structuredClone(new TypeError("m"));
return [e instanceof TypeError, e.message];
//=> [true, "m"]
