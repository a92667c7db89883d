import {
  a as o,
  c as i,
  h as r
} from "./_deps/CWOSZJTS.js";
import {
  a
} from "./_deps/EVCRMLF3.js";

// convex/actions.ts
var g = r({
  args: {},
  handler: /* @__PURE__ */ a(async (t) => {
    let n = await t.runQuery(i.messages.list, {});
    return await t.runMutation(i.messages.send, { body: "from an action" }), n;
  }, "handler")
}), p = r({
  args: {},
  handler: /* @__PURE__ */ a(async (t) => (t.runMutation(i.messages.send, { body: "dangling" }), null), "handler")
}), u = r({
  args: { ms: o.number() },
  handler: /* @__PURE__ */ a(async (t, { ms: n }) => {
    let e = Date.now();
    return await new Promise((s) => setTimeout(s, n)), Date.now() - e;
  }, "handler")
}), y = r({
  args: {},
  handler: /* @__PURE__ */ a(async () => {
    let { fail: t } = await import("./helpers.js");
    return typeof t;
  }, "handler")
}), m = r({
  args: { text: o.string() },
  handler: /* @__PURE__ */ a(async (t, { text: n }) => {
    let e = await t.storage.store(new Blob([n], { type: "text/plain" })), s = await t.storage.get(e);
    return { id: e, type: s.type, text: await s.text() };
  }, "handler")
}), w = r({
  args: { url: o.string() },
  handler: /* @__PURE__ */ a(async (t, { url: n }) => {
    let e = await fetch(n, { method: "POST", body: "ping", headers: { "x-test": "yes" } });
    return { status: e.status, text: await e.text(), header: e.headers.get("x-answer") };
  }, "handler")
}), h = r({
  args: {},
  handler: /* @__PURE__ */ a(async () => {
    throw console.log("about to fail"), new Error("action failed");
  }, "handler")
});
export {
  g as callAll,
  p as dangling,
  h as fails,
  y as lazily,
  w as load,
  u as sleep,
  m as store
};
//# sourceMappingURL=actions.js.map
