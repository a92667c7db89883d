// Chunks in order
const s = new ReadableStream({
  start(c) {
    c.enqueue(1);
    c.enqueue(2);
    c.close();
  },
});
const out = [];
for await (const x of s) out.push(x);
return out;
//=> [1, 2]

// Both branches of a tee get everything
const [a, b] = ReadableStream.from([1, 2]).tee();
const all = async (s) => {
  const o = [];
  for await (const x of s) o.push(x);
  return o;
};
return await Promise.all([all(a), all(b)]);
//=> [[1, 2], [1, 2]]

// A transform in a pipe
const out = [];
const double = new TransformStream({ transform: (x, c) => c.enqueue(x * 2), flush: (c) => c.enqueue("end") });
for await (const x of ReadableStream.from([1, 2, 3]).pipeThrough(double)) out.push(x);
return out;
//=> [2, 4, 6, "end"]

// A pipe ends in a sink and closes it
const out = [];
await ReadableStream.from(["a", "b"]).pipeTo(
  new WritableStream({ write: (x) => void out.push(x), close: () => void out.push("closed") }),
);
return out;
//=> ["a", "b", "closed"]

// Text through both text streams
const out = [];
for await (const t of ReadableStream.from(["é", "!"])
  .pipeThrough(new TextEncoderStream())
  .pipeThrough(new TextDecoderStream()))
  out.push(t);
return out.join("");
//=> "é!"

// An error in pull
const s = new ReadableStream({
  pull() {
    throw new Error("bad");
  },
});
try {
  await s.getReader().read();
} catch (e) {
  return e.message;
}
//=> "bad"

// Cancelling passes the reason on
let reason;
const s = new ReadableStream({
  cancel(r) {
    reason = r;
  },
});
await s.cancel("why");
return [reason, (await s.getReader().read()).done];
//=> ["why", true]

// Reading into one's own buffers
const s = new ReadableStream({
  type: "bytes",
  start(c) {
    c.enqueue(new Uint8Array([1, 2, 3]));
    c.close();
  },
});
const r = s.getReader({ mode: "byob" });
const a = await r.read(new Uint8Array(2));
const b = await r.read(new Uint8Array(2));
return [[...a.value], [...b.value]];
//=> [[1, 2], [3]]

// A stream has one reader at a time
const s = new ReadableStream();
s.getReader();
try {
  s.getReader();
} catch (e) {
  return [e instanceof TypeError, s.locked];
}
//=> [true, true]

// A transform that swallows everything does not stall
const t = new TransformStream({ transform() {} });
const w = t.writable.getWriter();
const r = t.readable.getReader();
const p = r.read();
await w.write(1);
await w.write(2);
await w.close();
return (await p).done;
//=> true

// An error in a sink
const w = new WritableStream({
  write() {
    throw new Error("sink");
  },
}).getWriter();
try {
  await w.write(1);
} catch (e) {
  return e.message;
}
//=> "sink"
