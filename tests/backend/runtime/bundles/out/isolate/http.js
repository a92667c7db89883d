import {
  d as h,
  i as n
} from "./_deps/CWOSZJTS.js";
import "./_deps/EVCRMLF3.js";

// convex/http.ts
var o = h();
o.route({
  path: "/echo",
  method: "POST",
  handler: n(async (r, e) => {
    let t = await e.arrayBuffer();
    return new Response(t, { status: 201, headers: { "x-method": e.method, "x-url": e.url } });
  })
});
o.route({
  path: "/stream",
  method: "GET",
  handler: n(async (r, e) => {
    let t = 0, a = new ReadableStream({
      async pull(s) {
        await new Promise((d) => setTimeout(d, 5)), s.enqueue(new TextEncoder().encode(`chunk ${t}
`)), ++t === 3 && s.close();
      }
    });
    return new Response(a, { headers: { "x-body": String(e.body) } });
  })
});
o.route({
  path: "/form",
  method: "POST",
  handler: n(async (r, e) => {
    let t = await e.formData(), a = t.get("file");
    return Response.json({ name: t.get("name"), file: a.name, type: a.type, text: await a.text() });
  })
});
o.route({
  path: "/aborted",
  method: "GET",
  handler: n(async (r, e) => (await new Promise((t) => e.signal.addEventListener("abort", t)), console.log("client is gone"), new Response(null)))
});
o.route({
  path: "/throw",
  method: "GET",
  handler: n(async () => {
    throw new Error("http boom");
  })
});
o.route({
  path: "/nothing",
  method: "GET",
  handler: n(async () => "text")
});
o.route({
  pathPrefix: "/files/",
  method: "GET",
  handler: n(async (r, e) => new Response(new URL(e.url).pathname))
});
var i = o;
export {
  i as default
};
//# sourceMappingURL=http.js.map
